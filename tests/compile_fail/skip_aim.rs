use countersign::browser::probe::Facts;
use countersign::gate::{admit::Admitted, identity};

fn skip(admitted: Admitted, facts: Facts) {
    let _ = identity::check(admitted, facts);
}

fn main() {}
