//! How often each model that stays is to be drawn.

use std::str::FromStr;

/// Its name in the output folder.
pub(super) const FILE_NAME: &str = "sampling_weights.csv";

/// Models whose names begin so count more, or less.
#[derive(Clone, Debug, PartialEq)]
pub struct Upweight {
    prefix: String,
    factor: f64,
}

impl FromStr for Upweight {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (prefix, factor) = text.rsplit_once(':').ok_or("it is no PREFIX:FACTOR, as in rag-:3")?;
        let prefix = prefix.trim();
        if prefix.is_empty() {
            return Err("it names no prefix".to_owned());
        }
        let factor: f64 = factor.trim().parse().map_err(|_| format!("`{factor}` is no number"))?;
        if !(factor > 0.0 && factor.is_finite()) {
            return Err(format!("a factor is greater than 0, not {factor}"));
        }
        Ok(Self { prefix: prefix.to_lowercase(), factor })
    }
}

/// The factor of the first one whose prefix the name begins with, whatever its case.
pub(super) fn weight(name: &str, upweights: &[Upweight]) -> f64 {
    let name = name.to_lowercase();
    upweights.iter().find(|upweight| name.starts_with(&upweight.prefix)).map_or(1.0, |upweight| upweight.factor)
}

pub(super) struct Weighted {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) weight: f64,
}

pub(super) fn csv(models: impl Iterator<Item = Weighted>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |fields: [&str; 3]| writer.write_record(fields).expect("all rows have three fields");
    write(["id", "name", "weight"]);
    for Weighted { id, name, weight } in models {
        write([&id, &name, &super::python_json::float(weight)]);
    }
    String::from_utf8(writer.into_inner().expect("it is written to memory")).expect("all fields are text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_prefix_counts() {
        let upweights: Vec<Upweight> = ["RAG-:3", "rag:0.5"].map(|text| text.parse().unwrap()).to_vec();
        let weights = ["rag-1", "Ragged", "net"].map(|name| weight(name, &upweights));
        assert_eq!(weights, [3.0, 0.5, 1.0]);
    }

    #[test]
    fn what_is_no_factor_is_refused() {
        let refused = |text: &str| text.parse::<Upweight>().unwrap_err();
        assert_eq!(refused("rag"), "it is no PREFIX:FACTOR, as in rag-:3");
        assert_eq!(refused(":3"), "it names no prefix");
        assert_eq!(refused("rag:x"), "`x` is no number");
        assert_eq!(refused("rag:0"), "a factor is greater than 0, not 0");
        assert_eq!(refused("rag:inf"), "a factor is greater than 0, not inf");
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let models = [("a#0", "a", 1.0), ("b,c#1", "b,c", 2.5)];
        let models =
            models.into_iter().map(|(id, name, weight)| Weighted { id: id.to_owned(), name: name.to_owned(), weight });
        assert_eq!(csv(models), "id,name,weight\na#0,a,1.0\n\"b,c#1\",\"b,c\",2.5\n");
    }
}
