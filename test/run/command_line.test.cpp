// What the command offers around runs: new run files, shell completion, the manual page, the page of a run in a browser.
#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace {

using namespace kasane;
namespace fs = std::filesystem;

class CommandLine : public test::CommandTest {
   protected:
    /// Output of a program of the system.
    test::Outcome shell(const std::string& program, const std::string& script) {
        return Process(directory, {"-c", script}, {}, {"/usr/bin/env", program}).wait();
    }
    static bool installed(const std::string& program) { return std::system(("command -v " + program + " >/dev/null").c_str()) == 0; }
    /// Why a test is skipped, and the remedy.
    static std::string missing(const std::string& program) { return program + " is not installed: apt-get install " + program; }
    /// The port that a view with --json prints; 0 where it prints none.
    int port_of_view() {
        if (!wait_for([&] { return contains(test::read_file(directory / ".out"), "}"); })) return 0;
        const std::string url = nlohmann::json::parse(test::read_file(directory / ".out"))["url"];
        return std::stoi(url.substr(url.rfind(':') + 1));
    }
    static bool contains(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }
};

TEST_F(CommandLine, NewRunFilesPassTheCheck) {
    for (const std::string problem : {"gravity", "poisson", "quenched", "hmc"}) {
        const auto made = kasane({"new", problem, "--json"});
        ASSERT_EQ(made.status, 0) << made.err;
        EXPECT_EQ(made.json()["file"], problem + ".toml");
        const auto text = test::read_file(directory / (problem + ".toml"));
        EXPECT_TRUE(contains(text, "kasane run " + problem + ".toml")) << text;
        EXPECT_FALSE(contains(text, "examples/")) << text;
        EXPECT_GT(std::count(text.begin(), text.end(), '#'), 20);
        const auto checked = kasane({"check", problem + ".toml", "--json"});
        EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
    }
}

TEST_F(CommandLine, NewOverwritesNothing) {
    test::write_file(directory / "own.toml", "mine");
    test::expect_bad_input(kasane({"new", "poisson", "-o", "own.toml", "--json"}), {"own.toml", "exists already"});
    EXPECT_EQ(test::read_file(directory / "own.toml"), "mine");
    EXPECT_EQ(kasane({"new", "poisson", "-o", "own.toml", "--force"}).status, 0);
    EXPECT_TRUE(contains(test::read_file(directory / "own.toml"), "problem = \"poisson\""));
    std::filesystem::create_symlink("nowhere.toml", directory / "link.toml");
    test::expect_bad_input(kasane({"new", "poisson", "-o", "link.toml", "--json"}), {"link.toml", "exists already"});
    EXPECT_TRUE(std::filesystem::is_symlink(directory / "link.toml"));
    test::expect_bad_input(kasane({"new", "tides", "--json"}), {"tides"});
    EXPECT_EQ(kasane({"new", "hmc", "-o", "no/such/directory.toml"}).status, 2);
}

TEST_F(CommandLine, BashCompletesVerbsAndOptions) {
    if (!installed("bash")) GTEST_SKIP() << missing("bash");
    test::write_file(directory / "completion", kasane({"completion", "bash"}).out);
    const auto completed = [&](const std::string& words) {
        const auto script =
            "source ./completion; COMP_WORDS=(" + words + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _kasane; echo \"${COMPREPLY[*]}\"";
        return shell("bash", script).out;
    };
    EXPECT_EQ(completed("kasane res"), "resume\n");
    EXPECT_EQ(completed("kasane lattice me"), "measure\n");
    EXPECT_EQ(completed("kasane sample --rep"), "--report\n");
    EXPECT_EQ(completed("kasane lattice solve --kap"), "--kappa\n");
    EXPECT_EQ(completed("kasane solve --kap"), "\n");
    EXPECT_EQ(completed("kasane run ''"), "\n");  // file names are the shell's
}

TEST_F(CommandLine, ZshAndFishReadTheirScripts) {
    for (const std::string name : {"zsh", "fish"}) {
        const auto script = kasane({"completion", name});
        ASSERT_EQ(script.status, 0) << script.err;
        test::write_file(directory / name, script.out);
        for (const char* word : {"resume", "kappa", "measure"}) EXPECT_TRUE(contains(script.out, word)) << name;
        if (!installed(name)) continue;
        const auto read = Process(directory, {"-n", name}, {}, {"/usr/bin/env", name}).wait();  // parses without executing
        EXPECT_EQ(read.status, 0) << name << read.err;
    }
    if (!installed("fish")) GTEST_SKIP() << missing("fish");
    const auto completed = [&](const std::string& words) {
        auto all = shell("fish", "source ./fish; complete -C '" + words + "'").out;
        std::string names;
        std::istringstream lines(all);
        for (std::string line; std::getline(lines, line);) names += line.substr(0, line.find('\t')) + " ";
        return names;
    };
    EXPECT_EQ(completed("kasane res"), "resume ");
    EXPECT_EQ(completed("kasane lattice me"), "measure ");
    EXPECT_EQ(completed("kasane lattice solve --kap"), "--kappa ");
    EXPECT_EQ(completed("kasane solve --kap"), "");
}

TEST_F(CommandLine, AnUnknownShellIsBadInput) { test::expect_bad_input(kasane({"completion", "tcsh", "--json"}), {"tcsh"}); }

TEST_F(CommandLine, NumbersNameTheirOptionAndRange) {
    const auto refused = [&](std::vector<std::string> words, const std::vector<std::string>& message) {
        words.emplace_back("--json");
        test::expect_bad_input(kasane(words), message);
    };
    for (const char* text : {"abc", "1x", "0.1 "}) refused({"lattice", "solve", "u", "--kappa", text}, {"--kappa: is", "must be a number"});
    refused({"lattice", "solve", "u", "--rtol", "abc"}, {"--rtol: is abc: it must be a number ("});
    refused({"lattice", "measure", "u", "--flow-time", "abc"}, {"--flow-time: is abc: it must be a number"});
    refused({"solve", "A.mtx", "--rtol", "abc"}, {"--rtol: is abc: it must be a number"});
    refused({"forces", "s", "-o", "f", "--G", "abc"}, {"--G: is abc: it must be a number"});
    refused({"bench", "--n", "1000,abc"}, {"--n: is abc: it must be a whole number from 1"});
    for (const char* text : {"nan", "0", "abc", "601", "inf"})
        refused({"calibrate", "--seconds", text}, {"--seconds: is " + std::string(text), "a number from 0.1 to 600"});
    for (const char* option : {"--latency", "--bandwidth"})
        for (const char* text : {"nan", "abc"}) refused({"predict", "run.toml", option, text}, {option, "a number from 0.001 to 1000000"});
}

TEST_F(CommandLine, OutputsAreCheckedBeforeTheMeasurement) {
    test::write_file(directory / "r.json", "{}");
    for (const char* option : {"--page", "--json"}) {
        const auto outcome = kasane({"bench", "sparse.triad", option, "/nonexistent/x"});
        EXPECT_EQ(outcome.status, 2);
        EXPECT_FALSE(contains(outcome.out, "triad")) << "before the measurement";
        EXPECT_TRUE(contains(outcome.err, "there is no directory /nonexistent")) << outcome.err;
    }
    const auto same = kasane({"bench", "sparse.triad", "--json", "q.json", "--page", "./q.json"});
    EXPECT_EQ(same.status, 2);
    EXPECT_TRUE(contains(same.err, "--page")) << same.err;
    EXPECT_TRUE(contains(same.err, "is the file of --json, too")) << same.err;
    EXPECT_FALSE(fs::exists(directory / "q.json"));
    const auto from = kasane({"bench", "--from", "r.json", "--page", "./r.json"});
    EXPECT_EQ(from.status, 2);
    EXPECT_TRUE(contains(from.err, "is the record of --from")) << from.err;
    EXPECT_EQ(test::read_file(directory / "r.json"), "{}");
    for (const auto& [file, words] : {std::pair{"no/c.json", "there is no directory no"}, std::pair{".", "is not a file name"}}) {
        const auto outcome = kasane({"calibrate", "--device", "cpu", "--seconds", "600", "--file", file, "--json"}, [] { alarm(60); });
        test::expect_bad_input(outcome, {words});
    }
    EXPECT_FALSE(fs::exists(directory / "no"));
    for (const auto& content : {"% a matrix", "{\"choices\": []}"}) {  // the machine is not measured for minutes first
        test::write_file(directory / "A.mtx", content);
        const auto outcome = kasane({"calibrate", "--device", "cpu", "--seconds", "600", "--file", "A.mtx", "--json"}, [] { alarm(60); });
        test::expect_bad_input(outcome, {"A.mtx", "--file", "is not replaced", "ends in .json"});
        EXPECT_EQ(test::read_file(directory / "A.mtx"), content);
    }
}

TEST_F(CommandLine, HelpShowsNoInternalDefaults) {
    for (const std::vector<std::string>& verb : {std::vector<std::string>{"lattice", "solve"}, {"lattice", "convert"}, {"solve"}}) {
        auto words = verb;
        words.emplace_back("--help");
        std::istringstream lines(kasane(words).out);
        for (std::string line; std::getline(lines, line);)
            for (const char* option :
                 {"--overlap INT=-", "--cycles", "--block-steps", "--columns", "--deflate ", "--bits", "--rows", "--eigenvalues"})
                if (line.find(std::string("  ") + option) == 0)
                    EXPECT_TRUE(!contains(line, "=0") && !contains(line, "=-1") && !contains(line, "[0]")) << line;
    }
}

TEST_F(CommandLine, TheManualPageNamesEveryVerbAndOption) {
    const auto page = kasane({"manual"});
    ASSERT_EQ(page.status, 0) << page.err;
    test::write_file(directory / "kasane.1", page.out);
    for (const char* section : {".SH NAME", ".SH RUN", ".SH LATTICE SOLVE", ".SH EXIT STATUS", "\\-\\-kappa"})
        EXPECT_TRUE(contains(page.out, section)) << section;
    if (!installed("groff")) GTEST_SKIP() << missing("groff");
    const auto set = Process(directory, {"-ww", "-man", "-Tascii", "-z", "kasane.1"}, {}, {"/usr/bin/env", "groff"}).wait();
    EXPECT_EQ(set.status, 0);
    EXPECT_EQ(set.err, "");
}

/// The answer to a request of HTTP; empty where nothing listens.
std::string request(int port, const std::string& text, const char* address = "127.0.0.1") {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, address, &to.sin_addr);
    std::string answer;
    if (::connect(descriptor, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) {
        EXPECT_EQ(::send(descriptor, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
        char block[4096];
        for (ssize_t n; (n = ::recv(descriptor, block, sizeof block, 0)) > 0;) answer.append(block, static_cast<std::size_t>(n));
    }
    ::close(descriptor);
    return answer;
}

TEST_F(CommandLine, ViewShowsTheRunAndNothingElse) {
    small_run();
    ASSERT_EQ(kasane({"run", "small.toml", "--quiet"}).status, 0);
    const auto out = directory / "out";
    fs::remove(out / "report.html");
    test::write_file(directory / "secret.txt", "secret");
    fs::create_symlink("../secret.txt", out / "link.txt");
    const auto files = [&] {
        std::vector<std::pair<std::string, fs::file_time_type>> all;
        for (const auto& entry : fs::recursive_directory_iterator(out))
            if (!entry.is_symlink()) all.emplace_back(entry.path(), entry.last_write_time());
        std::sort(all.begin(), all.end());
        return all;
    };
    const auto before = files();

    auto view = start({"view", "out", "--json"});
    const int port = port_of_view();
    ASSERT_GT(port, 0);
    const auto host = "\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n\r\n";
    const auto get = [&](const std::string& path) { return request(port, "GET " + path + " HTTP/1.1" + host); };

    for (const char* path : {"/", "/report.html", "/?x=1"}) {
        const auto page = get(path);
        EXPECT_TRUE(page.starts_with("HTTP/1.1 200 OK\r\n")) << page.substr(0, 100);
        EXPECT_TRUE(contains(page, "</html>"));
        EXPECT_FALSE(contains(page, "Refresh:"));  // the run is done
    }
    EXPECT_TRUE(contains(get("/energy.csv"), test::read_file(out / "energy.csv")));
    for (const char* path : {"/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/link.txt", "/snapshots",
                             "/snapshots/snapshot_0000.hdf5", "//etc/passwd", "/.lock", "/%00", "/%2", "/nothing"})
        EXPECT_TRUE(get(path).starts_with("HTTP/1.1 404 ")) << path;
    EXPECT_TRUE(request(port, "POST / HTTP/1.1" + host).starts_with("HTTP/1.1 405 "));
    EXPECT_TRUE(request(port, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").starts_with("HTTP/1.1 403 "));
    const auto head = request(port, "HEAD / HTTP/1.1" + host);
    EXPECT_TRUE(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"));
    EXPECT_EQ(request(port, "GET /" + std::string(100'000, 'x') + host).substr(0, 12), "");
    EXPECT_EQ(request(port, "GET / HTTP/1.1" + host, "127.0.0.2"), "");  // another address of this machine
    EXPECT_EQ(files(), before);
    test::expect_bad_input(kasane({"view", "out", "--port", std::to_string(port), "--json"}), {"--port", std::to_string(port)});

    view.signal(SIGINT);
    EXPECT_EQ(view.wait().status, 0);
    test::expect_bad_input(kasane({"view", "missing", "--json"}), {"missing"});
}

TEST_F(CommandLine, ViewLoadsTheRunInProgressAgain) {
    small_run();
    ASSERT_EQ(kasane({"run", "small.toml", "--quiet"}).status, 0);
    auto record = nlohmann::json::parse(test::read_file(directory / "out" / "record.json"));
    record["status"] = "running";
    test::write_file(directory / "out" / "record.json", record.dump());
    auto view = start({"view", "out", "--json"});
    const int port = port_of_view();
    ASSERT_GT(port, 0);
    const auto get = [&] { return request(port, "GET / HTTP/1.1\r\nHost: localhost:" + std::to_string(port) + "\r\n\r\n"); };
    auto page = get();
    EXPECT_TRUE(contains(page, "\r\nRefresh: 10\r\n") && contains(page, "not finished")) << page.substr(0, 300);
    test::write_file(directory / "out" / "record.json", "{");  // the run is writing it
    EXPECT_TRUE(get().starts_with("HTTP/1.1 200 "));
    record["status"] = "done";
    test::write_file(directory / "out" / "record.json", record.dump());
    EXPECT_FALSE(contains(get(), "Refresh:"));
    view.signal(SIGTERM);
    EXPECT_EQ(view.wait().status, 0);
}

}  // namespace
