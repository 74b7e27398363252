//! From a wish to a version.

use std::fs;
use std::path::Path;

use netquarry_registry::agreement::disagreements;
use netquarry_registry::catalog::CatalogError;
use netquarry_registry::catalog::Network::Online;
use netquarry_registry::lock::{Lock, LockedPlugin};
use netquarry_registry::notice::Notice;
use netquarry_registry::publish::yank;
use netquarry_registry::resolve::newest;
use netquarry_registry::settings::RegistrySettings;
use netquarry_registry::trust::{Trust, Voucher};

use crate::server::dead_url;
use crate::support::{Project, is_error, publish_plain, request, settings, tamper};

fn folder_settings(name: &str, folder: &Path) -> RegistrySettings {
    settings(name, &folder.display().to_string())
}

/// `REGISTRY VERSION` of what a wish resolves to.
fn resolve(project: &Project, settings: &[RegistrySettings], wanted: &str) -> Result<String, String> {
    project.with(settings, Online, |catalog| match catalog.resolve(&request(wanted)) {
        Ok(resolved) => Ok(format!("{} {}", resolved.registry, resolved.version)),
        Err(error) => Err(error.to_string()),
    })
}

fn relock(
    project: &Project,
    settings: &[RegistrySettings],
    wanted: &str,
    locked: &LockedPlugin,
) -> Result<String, String> {
    project.with(settings, Online, |catalog| match catalog.resolve_locked(&request(wanted), locked) {
        Ok(resolved) => Ok(format!("{} {}", resolved.registry, resolved.version)),
        Err(error) => Err(error.to_string()),
    })
}

/// `REGISTRY VERSION` of what takes the place of a locked version.
fn update(project: &Project, settings: &[RegistrySettings], locked: &LockedPlugin) -> Result<String, String> {
    project.with(settings, Online, |catalog| match catalog.resolve_update(locked) {
        Ok(resolved) => Ok(format!("{} {}", resolved.registry, resolved.version)),
        Err(error) => Err(error.to_string()),
    })
}

#[test]
fn the_newest_version_that_fits() {
    let folder = tempfile::tempdir().unwrap();
    for version in ["1.0.0", "1.2.0", "1.10.0", "2.0.0"] {
        publish_plain(folder.path(), "shim-a", version);
    }
    let settings = [folder_settings("acme", folder.path())];
    let cases = [
        ("shim-a", "acme 2.0.0"),
        ("shim-a@1", "acme 1.10.0"),
        ("shim-a@~1.2", "acme 1.2.0"),
        ("shim-a@=1.0.0", "acme 1.0.0"),
        ("shim-a@<1.2", "acme 1.0.0"),
    ];
    for (wanted, expected) in cases {
        assert_eq!(resolve(&Project::new(), &settings, wanted).as_deref(), Ok(expected), "{wanted}");
    }
}

#[test]
fn versions_for_other_hosts_and_yanked_ones_are_passed_over_and_told_of() {
    let folder = tempfile::tempdir().unwrap();
    for version in ["1.0.0", "1.1.0", "1.2.0", "2.0.0"] {
        publish_plain(folder.path(), "shim-a", version);
    }
    tamper(folder.path(), |index| {
        index.plugins.get_mut("shim-a").unwrap().versions[2].wit = "^0.2.0".to_owned();
    });
    yank(folder.path(), "shim-a", "1.1.0", "it forgets a layer").unwrap();
    let settings = [folder_settings("acme", folder.path())];
    assert_eq!(resolve(&Project::new(), &settings, "shim-a@1").as_deref(), Ok("acme 1.0.0"));
    is_error(
        resolve(&Project::new(), &settings, "shim-a@>=1.1, <2"),
        &[
            "`shim-a` in the registry `acme`",
            "2.0.0 (not what was asked for)",
            "1.2.0 (for hosts ^0.2.0, and this one is 0.1.0)",
            "1.1.0 (yanked: it forgets a layer)",
            "1.0.0 (not what was asked for)",
        ],
    );
}

/// Prereleases are for those who ask for them, and who did once goes on.
#[test]
fn prereleases_are_asked_for_once() {
    let cases: [(&[&str], &str, &str); 6] = [
        (&["1.0.0-alpha.1", "1.0.0-alpha.2"], "1.0.0-alpha.1", "acme 1.0.0-alpha.2"),
        (&["1.0.0-alpha.1", "1.1.0-alpha.1"], "1.0.0-alpha.1", "acme 1.1.0-alpha.1"),
        (&["1.0.0-alpha.1", "1.0.0"], "1.0.0-alpha.1", "acme 1.0.0"),
        (&["1.0.0-alpha.1"], "1.0.0-alpha.1", "acme 1.0.0-alpha.1"),
        (&["1.0.0", "1.1.0-alpha.1"], "1.0.0", "acme 1.0.0"),
        (&["1.0.0", "1.1.0", "2.0.0-alpha.1"], "1.0.0", "acme 1.1.0"),
    ];
    for (published, locked, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        for version in published {
            publish_plain(folder.path(), "shim-a", version);
        }
        let (settings, project) = ([folder_settings("acme", folder.path())], Project::new());
        let wanted = format!("shim-a@={locked}");
        let (_, locked) = project.add(&settings, Online, &wanted, Trust::AllowUnsigned).unwrap();
        assert_eq!(update(&project, &settings, &locked).as_deref(), Ok(expected), "{published:?}");
        // What is locked stays, and is what the project wants.
        assert_eq!(relock(&project, &settings, "shim-a", &locked), Ok(format!("acme {}", locked.version)));
        let mut lock = Lock::default();
        lock.insert(locked);
        assert_eq!(disagreements(&lock, &[request("shim-a")]), []);
    }
    let folder = tempfile::tempdir().unwrap();
    publish_plain(folder.path(), "shim-a", "1.0.0-alpha.1");
    let settings = [folder_settings("acme", folder.path())];
    is_error(
        resolve(&Project::new(), &settings, "shim-a"),
        &["1.0.0-alpha.1 (a prerelease, which has to be asked for"],
    );
}

#[test]
fn an_update_leaves_a_yanked_version_and_takes_no_other_bytes_for_it() {
    let folder = tempfile::tempdir().unwrap();
    for version in ["1.0.0", "1.1.0"] {
        publish_plain(folder.path(), "shim-a", version);
    }
    let (settings, project) = ([folder_settings("acme", folder.path())], Project::new());
    let (_, locked) = project.add(&settings, Online, "shim-a", Trust::AllowUnsigned).unwrap();
    tamper(folder.path(), |index| {
        index.plugins.get_mut("shim-a").unwrap().versions[1].sha256 = Some("0".repeat(64));
    });
    is_error(update(&project, &settings, &locked), &["shim-a 1.1.0", "a published version never changes"]);
    // Another registry may have what it likes under that version: it is another plugin.
    let other = [folder_settings("other", folder.path())];
    assert_eq!(update(&project, &other, &locked).as_deref(), Ok("other 1.1.0"));
    yank(folder.path(), "shim-a", "1.1.0", "it is slow").unwrap();
    assert_eq!(update(&project, &settings, &locked).as_deref(), Ok("acme 1.0.0"));
}

#[test]
fn the_newest_version_of_a_list_is_the_one_that_would_be_taken() {
    let folder = tempfile::tempdir().unwrap();
    for version in ["1.0.0", "1.1.0", "1.2.0", "2.0.0-alpha.1"] {
        publish_plain(folder.path(), "shim-a", version);
    }
    tamper(folder.path(), |index| {
        index.plugins.get_mut("shim-a").unwrap().versions[2].wit = "^0.2.0".to_owned();
    });
    yank(folder.path(), "shim-a", "1.1.0", "it is slow").unwrap();
    let settings = [folder_settings("acme", folder.path())];
    assert_eq!(resolve(&Project::new(), &settings, "shim-a").as_deref(), Ok("acme 1.0.0"));
    Project::new().with(&settings, Online, |catalog| {
        let (_, plugin) = catalog.find("shim-a").unwrap();
        assert_eq!(newest(plugin).map(|version| version.version.as_str()), Some("1.0.0"));
    });
}

#[test]
fn unknown_names_get_suggestions() {
    let folder = tempfile::tempdir().unwrap();
    publish_plain(folder.path(), "shim-acme", "1.0.0");
    let settings = [folder_settings("acme", folder.path())];
    is_error(
        resolve(&Project::new(), &settings, "shim-amce"),
        &["`shim-amce` in `acme`, `netquarry`", "did you mean `shim-acme`"],
    );
    is_error(resolve(&Project::new(), &settings, "dedup-exat"), &["did you mean `dedup-exact`"]);
    is_error(resolve(&Project::new(), &settings, "zzzzzz"), &["`netquarry plugin search`"]);
}

#[test]
fn the_first_registry_wins_and_the_others_are_named() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    publish_plain(first.path(), "dedup-acme", "0.0.1");
    publish_plain(second.path(), "dedup-acme", "9.0.0");
    let settings = [folder_settings("first", first.path()), folder_settings("second", second.path())];
    let project = Project::new();
    assert_eq!(resolve(&project, &settings, "dedup-acme").as_deref(), Ok("first 0.0.1"));
    let others = vec!["second".to_owned()];
    let (name, taken) = ("dedup-acme".to_owned(), "first".to_owned());
    assert_eq!(*project.notices.borrow(), [Notice::AlsoIn { name, taken, others }]);
}

/// Neither a claim nor an entry takes a name from the program: a run would load the program's own under it.
#[test]
fn a_name_of_the_programs_own_is_looked_up_in_the_program_only() {
    let folder = tempfile::tempdir().unwrap();
    publish_plain(folder.path(), "shim-mmit", "9.0.0");
    publish_plain(folder.path(), "shim-acme", "9.0.0");
    // Nobody can publish under such a name, but an index can be written by hand.
    let index = folder.path().join("registry.json");
    fs::write(&index, fs::read_to_string(&index).unwrap().replace("\"shim-mmit\"", "\"shim-timm\"")).unwrap();
    let open = folder_settings("open", folder.path());
    let claiming =
        RegistrySettings { prefixes: vec!["shim-".to_owned()], ..folder_settings("claiming", folder.path()) };
    for settings in [&[open][..], &[claiming][..]] {
        let (project, name) = (Project::new(), &settings[0].name);
        assert_eq!(resolve(&project, settings, "shim-timm").as_deref(), Ok("netquarry 0.1.0"));
        assert_eq!(resolve(&project, settings, "shim-acme"), Ok(format!("{name} 9.0.0")));
        project.with(settings, Online, |catalog| {
            let (found, _) = catalog.search("timm");
            assert_eq!(found.iter().map(|listed| listed.registry).collect::<Vec<_>>(), ["netquarry"]);
        });
    }
}

/// A public registry that offers a newer version of a private name is not even asked.
#[test]
fn a_claimed_prefix_is_looked_up_only_where_it_is_claimed() {
    let (public, private) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    publish_plain(public.path(), "acme-shim", "9.0.0");
    publish_plain(public.path(), "acme-other", "9.0.0");
    publish_plain(public.path(), "shim-b", "1.0.0");
    publish_plain(private.path(), "acme-shim", "1.0.0");
    publish_plain(private.path(), "shim-b", "2.0.0");
    let claiming =
        RegistrySettings { prefixes: vec!["acme-".to_owned()], ..folder_settings("private", private.path()) };
    let settings = [folder_settings("public", public.path()), claiming.clone()];
    let project = Project::new();
    assert_eq!(resolve(&project, &settings, "acme-shim").as_deref(), Ok("private 1.0.0"));
    // The claim holds for names that the private registry does not have, and it is asked for no other names.
    is_error(resolve(&project, &settings, "acme-other"), &["`acme-other` in `private`"]);
    assert_eq!(resolve(&project, &settings, "shim-b").as_deref(), Ok("public 1.0.0"));
    assert_eq!(*project.notices.borrow(), []);
    // Nor does the claim fall where the private registry is down.
    let down = RegistrySettings { location: dead_url(), ..claiming };
    is_error(resolve(&project, &[settings[0].clone(), down], "acme-shim"), &["`private` does not answer"]);
}

/// One that is passed over might have had the name.
#[test]
fn a_registry_that_does_not_answer_is_not_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    publish_plain(folder.path(), "shim-a", "1.0.0");
    let down = settings("down", &dead_url());
    let up = folder_settings("up", folder.path());
    is_error(resolve(&Project::new(), &[down.clone(), up.clone()], "shim-a"), &["`down` does not answer"]);
    let project = Project::new();
    assert_eq!(resolve(&project, &[up, down], "shim-a").as_deref(), Ok("up 1.0.0"));
    assert_eq!(project.told(|notice| matches!(notice, Notice::NotAsked { registry, .. } if registry == "down")), 1);
}

#[test]
fn what_is_locked_stays_even_if_yanked_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    publish_plain(folder.path(), "shim-a", "1.0.0");
    let settings = [folder_settings("acme", folder.path())];
    let project = Project::new();
    let (_, locked) = project.add(&settings, Online, "shim-a", Trust::AllowUnsigned).unwrap();
    publish_plain(folder.path(), "shim-a", "1.1.0");
    assert_eq!(relock(&project, &settings, "shim-a", &locked).as_deref(), Ok("acme 1.0.0"));
    assert_eq!(*project.notices.borrow(), []);
    yank(folder.path(), "shim-a", "1.0.0", "it is slow").unwrap();
    assert_eq!(relock(&project, &settings, "shim-a", &locked).as_deref(), Ok("acme 1.0.0"));
    let (plugin, reason) = ("shim-a 1.0.0".to_owned(), "it is slow".to_owned());
    assert_eq!(*project.notices.borrow(), [Notice::Yanked { plugin, reason }]);
    // Another wish, or an update, does not get it.
    assert_eq!(relock(&project, &settings, "shim-a@>1.0", &locked).as_deref(), Ok("acme 1.1.0"));
    assert_eq!(resolve(&project, &settings, "shim-a").as_deref(), Ok("acme 1.1.0"));
    is_error(resolve(&project, &settings, "shim-a@=1.0.0"), &["1.0.0 (yanked: it is slow)"]);
}

#[test]
fn a_locked_version_with_other_bytes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    publish_plain(folder.path(), "shim-a", "1.0.0");
    let settings = [folder_settings("acme", folder.path())];
    let project = Project::new();
    let (_, locked) = project.add(&settings, Online, "shim-a", Trust::AllowUnsigned).unwrap();
    tamper(folder.path(), |index| {
        index.plugins.get_mut("shim-a").unwrap().versions[0].sha256 = Some("0".repeat(64));
    });
    is_error(relock(&project, &settings, "shim-a", &locked), &["shim-a 1.0.0", "a published version never changes"]);
}

/// First-party components come with the program, and another build of it may have others.
#[test]
fn a_locked_component_of_another_program_gives_way() {
    let project = Project::new();
    let (_, mut locked) = project.add(&[], Online, "dedup-exact", Trust::SignedOnly).unwrap();
    assert_eq!(locked.voucher, Voucher::BuiltIn);
    locked.pin.sha256 = "0".repeat(64);
    assert!(relock(&project, &[], "dedup-exact", &locked).is_ok());
    let error = project.with(&[], Online, |catalog| catalog.fetch_locked(&locked)).err().unwrap();
    assert!(error.to_string().contains("the component in this program is another one"), "{error}");
}

#[test]
fn search_looks_into_names_and_summaries() {
    let folder = tempfile::tempdir().unwrap();
    publish_plain(folder.path(), "shim-zebra", "1.0.0");
    let settings = [folder_settings("acme", folder.path())];
    Project::new().with(&settings, Online, |catalog| {
        let found = |words| {
            let (found, _) = catalog.search(words);
            found.iter().map(|listed| format!("{} {}", listed.registry, listed.name)).collect::<Vec<_>>()
        };
        assert_eq!(found("zebra"), ["acme shim-zebra"]);
        assert_eq!(found("SAME code"), ["netquarry dedup-exact"]);
        assert!(found("nothing of that kind").is_empty());
    });
    // One that is down hides nothing of the others.
    let with_one_down = [settings[0].clone(), crate::support::settings("down", &dead_url())];
    Project::new().with(&with_one_down, Online, |catalog| {
        let (found, failures) = catalog.search("zebra");
        assert_eq!(found.iter().map(|listed| listed.name).collect::<Vec<_>>(), ["shim-zebra"]);
        assert!(
            matches!(&failures[..], [CatalogError::NoAnswer { registry, .. }] if registry == "down"),
            "{failures:?}"
        );
    });
}
