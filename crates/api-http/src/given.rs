//! The parameters of a request: checked against those that its operation declares, and read. The front end words what is
//! refused.

use std::borrow::Cow;

use crate::{Parameter, ParameterValue, Params, Request};

/// Why the parameters of a request are refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ParameterError {
    /// The operation has no such parameter; these it has.
    Unknown {
        /// As it was given.
        name: String,
        /// What the operation has.
        known: &'static [&'static [Parameter]],
    },
    /// It is given twice, and may not be.
    Twice(&'static str),
    /// It is neither `true` nor `false` but this.
    NoFlag(&'static str, String),
    /// It is not a whole number from `least` to `most` (`u64::MAX`: no upper limit).
    NoNumber {
        /// The parameter.
        name: &'static str,
        /// What was given.
        given: String,
        /// The least number.
        least: u64,
        /// The largest number.
        most: u64,
    },
    /// Its value cannot be read: why.
    Value(&'static str, String),
}

/// Checks that a request has no parameters but those of its operation, and none twice that may not be repeated. Cost: nothing
/// without parameters; no allocation in any case.
///
/// # Errors
///
/// [`ParameterError::Unknown`] and [`ParameterError::Twice`].
pub fn check_parameters(request: &Request) -> Result<(), ParameterError> {
    let operation = request.operation;
    for (place, (name, _)) in request.params.iter().enumerate() {
        let Some(parameter) = operation.find(name) else {
            return Err(ParameterError::Unknown { name: name.to_owned(), known: operation.query });
        };
        let is_given = |params: &Params| params.iter().take(place).any(|(before, _)| before == name);
        if !parameter.is_repeatable && is_given(&request.params) {
            return Err(ParameterError::Twice(parameter.name));
        }
    }
    Ok(())
}

/// The parameters of one request, [checked](check_parameters): those of its query, and those that its body gives.
#[derive(Debug)]
pub struct Given<'a> {
    request: &'a Request,
    /// What a body adds.
    added: Vec<(&'static str, Cow<'a, str>)>,
}

impl<'a> Given<'a> {
    /// Those of a query. Cost: nothing.
    pub fn of(request: &'a Request) -> Self {
        Self { request, added: Vec::new() }
    }

    /// Adds one that a body gives.
    ///
    /// # Errors
    ///
    /// [`ParameterError::Twice`] if it is given already and may not be repeated.
    pub fn add(
        &mut self,
        parameter: &Parameter,
        value: impl Into<Cow<'a, str>>,
    ) -> Result<(), ParameterError> {
        if !parameter.is_repeatable && self.values(parameter.name).next().is_some() {
            return Err(ParameterError::Twice(parameter.name));
        }
        self.added.push((parameter.name, value.into()));
        Ok(())
    }

    fn values(&self, name: &'static str) -> impl Iterator<Item = &str> {
        let added = self.added.iter().filter(move |(given, _)| *given == name).map(|(_, value)| &**value);
        self.request.params.get_all(name).chain(added)
    }

    /// The text of a parameter. Cost: a few comparisons.
    pub fn get(&self, parameter: &Parameter) -> Option<&str> {
        self.all(parameter).next()
    }

    /// The texts of a parameter that may be repeated, in order.
    pub fn all(&self, parameter: &Parameter) -> impl Iterator<Item = &str> {
        debug_assert!(
            self.request.operation.has(parameter) || self.request.params.get(parameter.name).is_none(),
            "{} reads the parameter {}, which it does not declare",
            self.request.operation.id,
            parameter.name
        );
        self.values(parameter.name)
    }

    /// A parameter read by `read`, which says what is wrong with a text that it cannot read.
    ///
    /// # Errors
    ///
    /// [`ParameterError::Value`].
    pub fn parse<T>(
        &self,
        parameter: &Parameter,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, ParameterError> {
        let read = self.get(parameter).map(read).transpose();
        read.map_err(|reason| ParameterError::Value(parameter.name, reason))
    }

    /// `true` or `false`; `false` if it is not given.
    ///
    /// # Errors
    ///
    /// [`ParameterError::NoFlag`].
    pub fn flag(&self, parameter: &Parameter) -> Result<bool, ParameterError> {
        match self.get(parameter) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => Err(ParameterError::NoFlag(parameter.name, other.to_owned())),
        }
    }

    /// A whole number, at least what the parameter's declaration says and at most `most`. One beyond 64 bits is read as
    /// `u64::MAX`, which exceeds every smaller limit.
    ///
    /// # Errors
    ///
    /// [`ParameterError::NoNumber`].
    pub fn number(&self, parameter: &Parameter, most: u64) -> Result<Option<u64>, ParameterError> {
        let Some(text) = self.get(parameter) else { return Ok(None) };
        let least = match parameter.value {
            ParameterValue::Number(least) => least,
            _ => 0,
        };
        let is_whole = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
        let number = is_whole.then(|| text.parse().unwrap_or(u64::MAX));
        match number.filter(|number| (least..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => {
                Err(ParameterError::NoNumber { name: parameter.name, given: text.to_owned(), least, most })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Operation;

    const LIMIT: Parameter = Parameter::new("limit", ParameterValue::Number(1), "The most rows.");
    const COUNT: Parameter = Parameter::new("count", ParameterValue::Flag, "Whether to count.");
    const NAME: Parameter = Parameter::new("name", ParameterValue::Text, "A name.").repeatable();
    static SEARCH: Operation =
        Operation::new("things", "search", "Finds.").query(&[&[LIMIT, COUNT], &[NAME]]);

    fn request(query: &str) -> Request {
        Request { params: Params::parse(query).unwrap(), operation: &SEARCH, ..Request::default() }
    }

    #[test]
    fn what_is_not_declared_is_refused_and_so_is_what_is_given_twice() {
        assert_eq!(check_parameters(&request("")), Ok(()));
        assert_eq!(check_parameters(&request("limit=1&name=a&name=b&count=x")), Ok(()));
        assert_eq!(check_parameters(&request("limit=1&name=a&limit=1")), Err(ParameterError::Twice("limit")));
        let unknown = ParameterError::Unknown { name: "lim".into(), known: SEARCH.query };
        assert_eq!(check_parameters(&request("name=a&lim=1")), Err(unknown));
    }

    #[test]
    fn values_are_read_as_they_are_declared() {
        let number = |query: &str, most| Given::of(&request(query)).number(&LIMIT, most);
        assert_eq!(number("", 10), Ok(None));
        assert_eq!(number("limit=10", 10), Ok(Some(10)));
        assert_eq!(number("limit=99999999999999999999", u64::MAX), Ok(Some(u64::MAX)));
        for wrong in ["0", "11", "", "1.0", "-1", "x"] {
            let (given, least, most) = (wrong.to_owned(), 1, 10);
            let expected = ParameterError::NoNumber { name: "limit", given, least, most };
            assert_eq!(number(&format!("limit={wrong}"), 10), Err(expected));
        }
        let flag = |query: &str| Given::of(&request(query)).flag(&COUNT);
        assert_eq!(flag(""), Ok(false));
        assert_eq!(flag("count=true"), Ok(true));
        assert_eq!(flag("count=yes"), Err(ParameterError::NoFlag("count", "yes".into())));
        let read = request("name=a");
        let refused = Given::of(&read).parse::<()>(&NAME, |text| Err(format!("{text:?} is taken")));
        assert_eq!(refused, Err(ParameterError::Value("name", "\"a\" is taken".into())));
    }

    #[test]
    fn what_a_body_gives_stands_beside_the_query() {
        let request = request("limit=1&name=a");
        let mut given = Given::of(&request);
        assert_eq!(given.add(&LIMIT, "2"), Err(ParameterError::Twice("limit")));
        given.add(&NAME, "b").unwrap();
        given.add(&COUNT, "true").unwrap();
        assert_eq!(given.all(&NAME).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(given.flag(&COUNT), Ok(true));
    }

    /// What `check_parameters` must say, by counting.
    fn expected(pairs: &[(&str, String)]) -> Result<(), ParameterError> {
        for (place, (name, _)) in pairs.iter().enumerate() {
            let once = match *name {
                "limit" => LIMIT.name,
                "count" => COUNT.name,
                "name" => continue,
                other => return Err(ParameterError::Unknown { name: other.into(), known: SEARCH.query }),
            };
            if pairs.iter().take(place).any(|(before, _)| *before == once) {
                return Err(ParameterError::Twice(once));
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn any_parameters_are_checked_and_read(
            pairs in prop::collection::vec((prop::sample::select(vec!["limit", "count", "name", "Limit", ""]), "[0-9]{1,22}|true|false|[a-z-]{0,3}"), 0..5),
            most in 1_u64..,
        ) {
            let query: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let request = request(&query.join("&"));
            let checked = check_parameters(&request);
            prop_assert_eq!(&checked, &expected(&pairs));
            if checked.is_err() {
                return Ok(());
            }
            let given = Given::of(&request);
            let text = |name: &str| pairs.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str());
            let number = text("limit").map(|text| text.parse::<u128>().map(|number| number.min(u64::MAX.into())));
            match (given.number(&LIMIT, most), number) {
                (Ok(None), None) => {}
                (Ok(Some(found)), Some(Ok(number))) => {
                    prop_assert_eq!(u128::from(found), number);
                    prop_assert!((1..=most).contains(&found));
                }
                (Err(_), Some(number)) => {
                    prop_assert!(number.is_err() || number.is_ok_and(|number| number < 1 || number > most.into()));
                }
                (found, number) => prop_assert!(false, "{:?} of {:?}", found, number),
            }
            let flag = text("count").map_or(Some(false), |text| text.parse::<bool>().ok());
            prop_assert_eq!(given.flag(&COUNT).ok(), flag);
            let names: Vec<_> = pairs.iter().filter(|(name, _)| *name == "name").map(|(_, value)| value).collect();
            prop_assert_eq!(given.all(&NAME).collect::<Vec<_>>(), names);
        }
    }

    #[test]
    #[should_panic(expected = "search reads the parameter after, which it does not declare")]
    fn what_is_read_must_be_declared() {
        let request =
            Request { params: Params::parse("after=x").unwrap(), operation: &SEARCH, ..Request::default() };
        Given::of(&request).get(&Parameter::new("after", ParameterValue::Text, ""));
    }
}
