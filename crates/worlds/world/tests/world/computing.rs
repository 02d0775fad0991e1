//! Claims about the time that computing takes, by one program and by several at once.

use lastmile_units::{Instant, Seed};
use lastmile_world::Host;
use lastmile_world::sim::{CpuSpec, HostSpec, SimHost, World};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// When each piece of work is done, in the order in which they are.
type Done = Rc<RefCell<Vec<(&'static str, Duration)>>>;

fn spawn(host: &SimHost, name: &'static str, pieces: &[u32], done: &Done) {
    let (machine, done, pieces) = (host.clone(), Rc::clone(done), pieces.to_vec());
    host.spawn(async move {
        for milliseconds in pieces {
            machine.compute(MS * milliseconds).await;
            done.borrow_mut().push((name, machine.now().since_start()));
        }
    });
}

fn run(world: &World, host: &SimHost) {
    let host = host.clone();
    world
        .run(async move { host.sleep_until(Instant::START + 1000 * MS).await })
        .unwrap();
}

#[test]
fn two_hosts_on_one_cpu_take_turns_and_each_pays_for_its_own() {
    let (world, done) = (World::new(Seed::new(1)), Done::default());
    let cpu = world.cpu(CpuSpec::default());
    let (first, second) = (
        world.host_on(cpu, HostSpec::default()),
        world.host_on(cpu, HostSpec::default()),
    );
    spawn(&first, "first", &[3, 1], &done);
    spawn(&second, "second", &[2, 2], &done);
    run(&world, &first);
    let expected = [("first", 3), ("second", 5), ("first", 6), ("second", 8)].map(|(name, at)| (name, at * MS));
    assert_eq!(*done.borrow(), expected);
    assert_eq!((first.cpu_time(), second.cpu_time()), (4 * MS, 4 * MS));
}

#[test]
fn hosts_with_cpus_of_their_own_do_not_wait_for_each_other() {
    let (world, done) = (World::new(Seed::new(1)), Done::default());
    let (first, second) = (world.host(HostSpec::default()), world.host(HostSpec::default()));
    spawn(&first, "first", &[3], &done);
    spawn(&second, "second", &[2], &done);
    run(&world, &first);
    assert_eq!(*done.borrow(), [("second", 2 * MS), ("first", 3 * MS)]);
}

/// Three times slower, and half of it taken by something else: the program's own time triples, its wait is six times as long.
#[test]
fn background_load_lengthens_the_wait_and_not_the_cpu_time() {
    let (world, done) = (World::new(Seed::new(1)), Done::default());
    let cpu = CpuSpec {
        slow_down: 3.0,
        background_load: 0.5,
        ..CpuSpec::default()
    };
    let host = world.host(HostSpec {
        cpu,
        ..HostSpec::default()
    });
    spawn(&host, "slow", &[2], &done);
    run(&world, &host);
    assert_eq!((done.borrow()[0].1, host.cpu_time()), (12 * MS, 6 * MS));
}

#[test]
fn work_for_two_cores_is_done_two_at_a_time_in_the_order_it_came() {
    let (world, done) = (World::new(Seed::new(1)), Done::default());
    let host = world.host(HostSpec {
        cpu: CpuSpec {
            cores: 2,
            ..CpuSpec::default()
        },
        ..HostSpec::default()
    });
    for name in ["a", "b", "c", "d"] {
        spawn(&host, name, &[2], &done);
    }
    run(&world, &host);
    assert_eq!(
        *done.borrow(),
        [("a", 2 * MS), ("b", 2 * MS), ("c", 4 * MS), ("d", 4 * MS)]
    );
}
