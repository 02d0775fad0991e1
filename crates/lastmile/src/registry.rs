//! The deliveries and the built-in studies of this binary, as lists of the crates that have them.

use lastmile_builtin_studies::STUDIES;
use lastmile_study::catalogue::Catalogue;
use lastmile_study::delivery::Deliveries;

/// The deliveries that studies can name.
pub(crate) const DELIVERIES: Deliveries = Deliveries::new(&[lastmile_deliveries::DELIVERIES]);

/// The built-in studies.
pub(crate) const CATALOGUE: Catalogue = Catalogue::new(&[STUDIES]);

/// `; did you mean bulk?`, where a built-in study has a name like this one.
pub(crate) fn did_you_mean(name: &str) -> String {
    let meant = CATALOGUE.nearest(name);
    meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"))
}
