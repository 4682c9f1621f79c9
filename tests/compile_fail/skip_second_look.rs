use countersign::gate::consent::Consented;
use countersign::journal::{Journal, line};

fn skip(consented: Consented, journal: &mut Journal) {
    let _ = line::intent(journal, consented, None, str::to_owned);
}

fn main() {}
