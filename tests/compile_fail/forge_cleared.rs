use countersign::gate::{clear::Cleared, site::OnSite};

fn forge(on: OnSite) -> Cleared {
    Cleared { on, answered: Some(1) }
}

fn main() {}
