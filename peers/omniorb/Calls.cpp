// A server and a client of the calls of Calls.idl, in omniORB.
//
// `calls server` serves until SIGTERM, and reports what it received. `calls client` makes the calls of one operation, and reports each: `text`,
// `bibliography`, `fetch` or `ticks`. Values are read from plain text files, a field per line: C++ has no JSON.

#include <Calls.hh>
#include <omniORB4/omniORB.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string given(const std::string& name) {
    const char* value = std::getenv(("LASTMILE_" + name).c_str());
    if (!value) {
        std::cerr << "LASTMILE_" << name << " is not set" << std::endl;
        std::exit(2);
    }
    return value;
}

std::vector<std::string> lines_of(const std::string& name) {
    std::ifstream file(given("DATA") + "/" + name);
    if (!file) {
        std::cerr << name << " cannot be read" << std::endl;
        std::exit(2);
    }
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

Lastmile::Lines text() {
    Lastmile::Lines lines;
    for (const auto& line : lines_of("text.txt")) {
        lines.length(lines.length() + 1);
        lines[lines.length() - 1] = CORBA::string_dup(line.c_str());
    }
    return lines;
}

// Each entry: the number of authors, two lines for each, and a line for each other field in the order of Calls.idl.
Lastmile::Bibliography bibliography() {
    const auto fields = lines_of("bibliography.txt");
    size_t at = 0;
    const auto next = [&]() -> const std::string& { return fields.at(at++); };
    const auto number = [&] { return static_cast<CORBA::Short>(std::stoi(next())); };
    Lastmile::Bibliography entries;
    while (at < fields.size()) {
        entries.length(entries.length() + 1);
        Lastmile::Entry& entry = entries[entries.length() - 1];
        entry.authors.length(std::stoul(next()));
        for (CORBA::ULong author = 0; author < entry.authors.length(); ++author) {
            entry.authors[author].lastname = next().c_str();
            entry.authors[author].initials = next().c_str();
        }
        entry.title = next().c_str();
        entry.journal = next().c_str();
        entry.year = number();
        entry.publisher = next().c_str();
        entry.location = next().c_str();
        entry.edition = next().c_str();
        entry.hyperlink = next().c_str();
        entry.volume = number();
        entry.issue = number();
        entry.pages_.start = number();
        entry.pages_.end = number();
    }
    return entries;
}

// FNV-1a over the strings and numbers of what was received, in order.
class Received {
public:
    void add(const char* value) {
        for (; *value; ++value) byte(*value);
        byte(0);
    }
    void add(std::int64_t value) { add(std::to_string(value).c_str()); }
    void add(const Lastmile::Lines& lines) {
        ++calls_;
        for (CORBA::ULong line = 0; line < lines.length(); ++line) add(lines[line].in());
    }
    void add(const Lastmile::Bibliography& entries) {
        ++calls_;
        for (CORBA::ULong at = 0; at < entries.length(); ++at) {
            const Lastmile::Entry& entry = entries[at];
            for (CORBA::ULong author = 0; author < entry.authors.length(); ++author) {
                add(entry.authors[author].lastname.in());
                add(entry.authors[author].initials.in());
            }
            for (const char* field : {entry.title.in(), entry.journal.in(), entry.publisher.in(), entry.location.in(),
                                      entry.edition.in(), entry.hyperlink.in()})
                add(field);
            for (CORBA::Short field : {entry.year, entry.volume, entry.issue, entry.pages_.start, entry.pages_.end})
                add(static_cast<std::int64_t>(field));
        }
    }
    void tick(CORBA::Long id, CORBA::Short value) {
        ++calls_;
        add(static_cast<std::int64_t>(id));
        add(static_cast<std::int64_t>(value));
    }
    void report(const char* event) const {
        std::printf("{\"event\": \"%s\", \"calls\": %llu, \"digest\": \"%016llx\"}\n", event,
                    static_cast<unsigned long long>(calls_), static_cast<unsigned long long>(hash_));
        std::fflush(stdout);
    }

private:
    void byte(char value) { hash_ = (hash_ ^ static_cast<unsigned char>(value)) * 1099511628211ULL; }
    std::uint64_t calls_ = 0;
    std::uint64_t hash_ = 14695981039346656037ULL;
};

class Transfer : public POA_Lastmile::Transfer {
public:
    explicit Transfer(Received& received) : received_(received) {}
    void putText(const Lastmile::Lines& lines) override { received_.add(lines); }
    void putBib(const Lastmile::Bibliography& entries) override { received_.add(entries); }
    void tick(CORBA::Long id, CORBA::Short value) override { received_.tick(id, value); }
    void ping() override {}
    Lastmile::Lines* getText() override { return new Lastmile::Lines(text()); }

private:
    Received& received_;
};

volatile std::sig_atomic_t ended = 0;
void end(int) { ended = 1; }

CORBA::ORB_var orb(const std::vector<std::pair<std::string, std::string>>& options) {
    std::vector<std::array<const char*, 2>> pairs;
    for (const auto& [name, value] : options) pairs.push_back({name.c_str(), value.c_str()});
    pairs.push_back({nullptr, nullptr});
    int count = 0;
    using Options = const char* (*)[2];
    return CORBA::ORB_init(count, nullptr, "omniORB4", reinterpret_cast<Options>(pairs.data()));
}

// The object is known by its name in the ORB's own adapter, so that a client needs only host and port.
int serve() {
    std::signal(SIGTERM, end);
    const std::string at = "giop:tcp:" + given("HOST") + ":" + given("PORT");
    // Otherwise several threads take the one-way calls of a connection, in any order.
    const auto broker = orb({{"endPoint", at}, {"maxServerThreadPerConnection", "1"}});
    CORBA::Object_var root = broker->resolve_initial_references("omniINSPOA");
    PortableServer::POA_var adapter = PortableServer::POA::_narrow(root);
    PortableServer::POAManager_var manager = adapter->the_POAManager();
    manager->activate();
    Received received;
    PortableServer::Servant_var<Transfer> servant = new Transfer(received);
    PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId("t");
    adapter->activate_object_with_id(id, servant);
    std::printf("READY\n");
    std::fflush(stdout);
    while (!ended) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    received.report("received");
    std::_Exit(0);
}

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int call() {
    const auto broker = orb({});
    const std::string at = "corbaloc::1.2@" + given("HOST") + ":" + given("PORT") + "/t";
    CORBA::Object_var object = broker->string_to_object(at.c_str());
    Lastmile::Transfer_var transfer = Lastmile::Transfer::_unchecked_narrow(object);
    const std::string operation = given("OPERATION");
    const long count = std::stol(given("CALLS"));
    Received sent;
    std::printf("{\"event\": \"hello\", \"version\": \"%s\"}\n", omniORB::versionString());
    transfer->ping();
    const Lastmile::Lines lines = text();
    const Lastmile::Bibliography entries = bibliography();
    const auto report = [&](long index, std::int64_t start) {
        std::printf("{\"event\": \"call\", \"i\": %ld, \"op\": \"%s\", \"start_ns\": %lld, \"dur_ns\": %lld, \"ok\": true}\n", index,
                    operation.c_str(), static_cast<long long>(start), static_cast<long long>(now() - start));
    };
    if (operation == "ticks") {
        const auto ticks = lines_of("ticks.txt");
        const auto start = now();
        for (const auto& line : ticks) {
            const auto space = line.find(' ');
            const CORBA::Long id = std::stol(line.substr(0, space));
            const CORBA::Short value = static_cast<CORBA::Short>(std::stoi(line.substr(space)));
            transfer->tick(id, value);
            sent.tick(id, value);
        }
        transfer->ping();
        report(0, start);
    }
    for (long index = 0; operation != "ticks" && index < count; ++index) {
        const auto start = now();
        if (operation == "text") {
            transfer->putText(lines);
            sent.add(lines);
        } else if (operation == "bibliography") {
            transfer->putBib(entries);
            sent.add(entries);
        } else {
            Lastmile::Lines_var received = transfer->getText();
        }
        report(index, start);
    }
    sent.report("end");
    broker->destroy();
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string role = count > 1 ? arguments[1] : "";
    try {
        if (role == "--version") {
            std::printf("omniORB: %s\n", omniORB::versionString());
            return 0;
        }
        if (role == "server") return serve();
        if (role == "client") return call();
    } catch (const CORBA::Exception& exception) {
        std::cerr << "CORBA: " << exception._name() << std::endl;
        return 1;
    }
    std::cerr << "use server, client or --version" << std::endl;
    return 2;
}
