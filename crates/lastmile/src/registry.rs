//! The deliveries and the built-in studies of this binary, as lists of the crates that have them.

use lastmile_builtin_studies::STUDIES;
use lastmile_study::catalogue::Catalogue;
use lastmile_study::delivery::Deliveries;

/// The deliveries that studies can name.
pub(crate) const DELIVERIES: Deliveries = Deliveries::new(&[lastmile_deliveries::DELIVERIES]);

/// The built-in studies.
pub(crate) const CATALOGUE: Catalogue = Catalogue::new(&[STUDIES]);
