//! Writes the first profile that `setup` lays down, from the shipped template.

use super::rule::SiteRule;

const TEMPLATE: &str = include_str!("../../policy/starter.toml");
const SITES: &str = "# {sites}\n";

/// The starter profile with these sites, each with the default tiers spelt out.
#[must_use]
pub fn starter(sites: &[SiteRule]) -> String {
    let entries: String = sites
        .iter()
        .map(|site| {
            format!("[[site]]\norigin = \"{site}\"\ntiers = [\"read\", \"navigate\", \"act\"]\n")
        })
        .collect::<Vec<_>>()
        .join("\n");
    TEMPLATE.replacen(SITES, &entries, 1)
}

#[cfg(test)]
mod tests {
    use super::super::limits::Limits;
    use super::super::profile::Profile;
    use super::*;

    #[test]
    fn it_parses_with_one_site_and_says_what_the_defaults_say() {
        let site = SiteRule::parse("https://bank.example").unwrap();
        let profile = Profile::parse(&starter(std::slice::from_ref(&site))).unwrap();
        let plain =
            Profile::parse("version = 1\n[[site]]\norigin = \"https://bank.example\"\n").unwrap();
        assert_eq!(profile.digest(), plain.digest());
        assert_eq!(profile.sites().len(), 1);
        assert_eq!(profile.sites()[0].rule(), &site);
        assert_eq!(profile.limits(), &Limits::default());
    }

    #[test]
    fn without_a_site_it_is_refused() {
        assert!(Profile::parse(&starter(&[])).is_err());
        assert!(Profile::parse(TEMPLATE).is_err());
    }

    #[test]
    fn what_it_offers_as_a_comment_is_valid() {
        let sites = [
            SiteRule::parse("https://*.bank.example").unwrap(),
            SiteRule::parse("http://127.0.0.1:8080").unwrap(),
        ];
        let uncommented: String = starter(&sites)
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(setting) if setting.contains(" = ") || setting.starts_with("[[") => {
                    format!("{setting}\n")
                }
                _ => format!("{line}\n"),
            })
            .collect();
        let profile = Profile::parse(&uncommented).unwrap();
        assert_eq!(profile.sites().len(), 2);
        assert_eq!(profile.locks().len(), 1);
    }
}
