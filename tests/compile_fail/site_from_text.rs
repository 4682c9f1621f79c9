use countersign::domain::tier::Tier;
use countersign::policy::profile::Profile;

fn decide(profile: &Profile) {
    let _ = profile.decide("https://bank.test", Tier::Act);
}

fn main() {}
