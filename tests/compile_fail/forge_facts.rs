use countersign::browser::probe::ElementFacts;

fn change(facts: &mut ElementFacts) {
    facts.raw.print.text = "Next".to_owned();
}

fn main() {}
