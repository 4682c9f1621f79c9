use countersign::browser::probe::Facts;
use countersign::gate::{consent::Consented, identity};

fn twice(consented: Consented, one: Facts, two: Facts) {
    let _ = identity::recheck(consented, one);
    let _ = identity::recheck(consented, two);
}

fn main() {}
