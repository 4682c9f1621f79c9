use countersign::gate::clear::Cleared;
use countersign::journal::{Journal, line};

fn twice(cleared: Cleared, journal: &mut Journal) {
    let _ = line::intent(journal, cleared, None, str::to_owned);
    let _ = line::intent(journal, cleared, None, str::to_owned);
}

fn main() {}
