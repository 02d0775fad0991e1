use super::*;
use crate::cell::expand;

/// A delivery that carries one kind of workload and runs in the simulated world alone.
struct Toy {
    name: &'static str,
    carries: &'static str,
    kind: &'static str,
}

impl Delivery for Toy {
    fn name(&self) -> &'static str {
        self.name
    }

    fn carries(&self) -> &'static str {
        self.carries
    }

    fn about(&self) -> &'static str {
        "A toy."
    }

    fn check(&self, settings: &Settings) -> Result<(), Refusal> {
        let workload = settings.delivered().ok_or("no workload is set")?;
        if workload.content().kind() == self.kind {
            Ok(())
        } else {
            Err(Refusal::Workload)
        }
    }

    fn figures(&self, _settings: &Settings) -> &'static [&'static Figure] {
        match self.kind {
            "bulk" => &[figure::TRANSFER_TIME, figure::GOODPUT],
            _ => &[],
        }
    }

    fn check_world(&self, world: World) -> Result<(), String> {
        match world {
            World::Simulated => Ok(()),
            World::Emulated => Err(format!("delivery {} runs in the simulated world alone", self.name)),
        }
    }

    fn expected_time(&self, _settings: &Settings) -> Duration {
        Duration::from_secs(3)
    }

    fn run(&self, cell: &Cell, _context: &RunContext<'_>) -> Result<Vec<Outcome>, Failure> {
        Err(Failure::new(format!("{} has run {}", self.name, cell.describe())))
    }
}

const TRAIN: &dyn Delivery = &Toy {
    name: "train",
    carries: "bulk",
    kind: "bulk",
};
const SHIP: &dyn Delivery = &Toy {
    name: "ship",
    carries: "bulk",
    kind: "bulk",
};
const PIGEON: &dyn Delivery = &Toy {
    name: "pigeon",
    carries: "messages",
    kind: "chat",
};
const DELIVERIES: Deliveries = Deliveries::new(&[&[TRAIN, SHIP], &[PIGEON]]);

fn study(fixed: &str) -> Study {
    Study::parse("t.toml", &format!("name = 't'\nquestion = ''\n[fixed]\n{fixed}")).unwrap()
}

fn check(study: &Study) -> Result<(), StudyError> {
    DELIVERIES.check(&expand(study)?)
}

fn refusal(fixed: &str) -> String {
    check(&study(fixed)).unwrap_err().to_string()
}

const BULK: &str = "workload = { kind = 'bulk', bytes = '1 B' }";

#[test]
fn an_unknown_delivery_is_met_with_the_nearest_of_the_registry_or_with_all() {
    let unknown = |name: &str| refusal(&format!("delivery = '{name}'\n{BULK}"));
    assert_eq!(
        unknown("trian"),
        "study \"t\": the only cell: unknown delivery \"trian\"; did you mean \"train\"?"
    );
    assert!(unknown("h2").ends_with("unknown delivery \"h2\"; there are \"train\", \"ship\" and \"pigeon\""));
}

#[test]
fn a_delivery_that_does_not_carry_a_workload_is_refused_with_those_that_do() {
    assert!(refusal(&format!("delivery = 'pigeon'\n{BULK}")).ends_with(
        "delivery pigeon does not carry bulk; bulk go over \"train\" or \"ship\", messages over \"pigeon\""
    ));
    assert!(refusal("delivery = 'train'").ends_with("no workload is set"));
    assert!(
        refusal(&format!("delivery = 'ship'\nworld = 'emu'\n{BULK}")).ends_with("runs in the simulated world alone")
    );
}

#[test]
fn a_cell_is_run_by_the_delivery_that_it_names() {
    let cell = |fixed: &str| expand(&study(fixed)).unwrap().cells.remove(0);
    let costs = CostTable::free();
    let context = RunContext {
        seed: Seed::new(1),
        repeats: 0..1,
        interval: Duration::ZERO,
        costs: &costs,
        captures: None,
        observer: None,
    };
    let bulk = cell(&format!("delivery = 'ship'\n{BULK}"));
    let ran = |cell| DELIVERIES.run(cell, &context).remove(0).unwrap_err().to_string();
    assert_eq!(ran(&bulk), "ship has run the only cell");
    assert_eq!(DELIVERIES.expected_time(&bulk), Duration::from_secs(3));
    let refused = cell("delivery = 'ship'");
    assert_eq!(ran(&refused), "no workload is set");
    assert_eq!(DELIVERIES.expected_time(&refused), Duration::ZERO);
}

#[test]
fn a_figure_that_no_cell_measures_is_refused_with_those_that_are() {
    let asked = |figures: &str| study(&format!("{BULK}\ndelivery = 'ship'\n[measure]\nfigures = [{figures}]"));
    check(&asked("'goodput'")).unwrap();
    let error = check(&asked("'goodput', 'response_time'")).unwrap_err().to_string();
    assert_eq!(
        error,
        "study \"t\": no cell measures \"response_time\", which [measure] asks for; its cells measure transfer_time, goodput"
    );
    let unsaid =
        "workload = { kind = 'chat', messages = 1 }\ndelivery = 'pigeon'\n[measure]\nfigures = ['response_time']";
    check(&study(unsaid)).unwrap();
}
