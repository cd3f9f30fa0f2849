#include <kasane/core/base/error.hpp>
#include <kasane/core/device/load.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/run/driver/loop.hpp>
#include <kasane/version.hpp>

namespace kasane::run {

std::string record_text(const Kind& kind, Run& run) {
    auto object = common_json(run.record(), kind.name, kind.step);
    object.update(run.part());
    return object.dump(2, ' ', false, io::Json::error_handler_t::replace) + "\n";
}

Loop::Loop(const Kind& kind, Run& run, const RunDirectory& directory, const RunControls& controls, RankCoordinator& ranks)
    : kind_(kind),
      run_(run),
      directory_(directory),
      controls_(controls),
      ranks_(ranks),
      timers_before_(run.record().timers),
      seconds_before_(run.record().seconds) {
    const auto& file = run.file();
    auto& r = run.record();
    r.title = file.title;
    r.status = "running";
    r.message.clear();
    if (r.started.empty()) r.started = iso_time_now();
    r.finished.clear();
    r.device = device_info(file.space);
    r.threads = threads_of(file.space);
    if (ranks.size() == 1) warn_of_load(file.space);  // several ranks load the machine themselves
    r.simd = simd_name();
    if (kind.worker) r.parallel = {.ranks = ranks.size(), .workers = file.workers(), .placement = ranks.placement()};
    if (r.segments.empty()) r.unused_keys = file.unused_keys, r.papers = file.papers;
    const auto first = run.progress();
    r.segments.push_back({iso_time_now(), name(file.space), commit, r.threads, ranks.size() * file.workers(), first, first, 0});
}

void Loop::run() {
    try {
        run_.begin(*this);
        while (!run_.done() && !controls_.stop()) {
            run_.advance(*this);
            output_.check();
            if (run_.done() || !checkpoint_due()) continue;
            clear_bar();
            save();
        }
        clear_bar();
        finish();
    } catch (const Interrupted&) {  // while the state was created: there is nothing new to save
        end("interrupted");
        write_record();
    } catch (const std::exception& error) {
        run_.record().message = error.what();
        try {
            output_.flush();               // what was saved before the error is kept
        } catch (const std::exception&) {  // the first error is reported
        }
        end("failed");
        try {
            write_record();
        } catch (const Error&) {  // the disk is full: the first error is reported
        }
        ranks_.end_if_others_wait();
        throw;
    }
}

void Loop::finish() {
    const bool done = run_.done();
    end(done ? run_.outcome() : "interrupted");
    if (done) {
        update();
        run_.complete(*this);
    }
    if (done && kind_.checkpoints_when_done == 0) {
        directory_.keep_checkpoints(0);  // before the record has the status done, since resume uses the remaining files
        write_record();
        return;
    }
    {
        const auto scope = timers_.scope("checkpoint");
        if (auto write = run_.save(*this, directory_.checkpoint(run_.progress()))) output_.add(std::move(write));
        output_.flush();
        directory_.keep_checkpoints(2);
    }
    write_record();
    if (done) directory_.keep_checkpoints(static_cast<std::size_t>(kind_.checkpoints_when_done));
}

void Loop::show(double done, const std::string& note) {
    if (!bar_) bar_.emplace(controls_.progress, run_.file().title, run_.total(), done);
    bar_->update(done, note);
}

void Loop::clear_bar() {
    if (bar_) bar_->clear();
}

std::string Loop::record() {
    update();
    return record_text(kind_, run_);
}

void Loop::write_record() {
    output_.flush();
    const auto text = record();
    run_.write_tables(directory_);
    write_atomically(directory_.record(), text);
}

void Loop::save() {
    std::function<void()> write;
    {
        const auto scope = timers_.scope("checkpoint");
        write = run_.save(*this, directory_.checkpoint(run_.progress()));
    }
    if (write) {
        run_.write_tables(directory_);
        output_.add([this, write = std::move(write), text = record()] {
            write();
            directory_.keep_checkpoints(2);
            write_atomically(directory_.record(), text);
        });
    } else {
        directory_.keep_checkpoints(2);
        write_record();
    }
    since_checkpoint_.restart();
}

void Loop::update() {
    auto& r = run_.record();
    r.seconds = seconds();
    r.timers = timers_before_;
    add(r.timers, timers_.parts());
    if (const auto output = output_.time(); output.calls > 0) add(r.timers, {{"output", output}});
    run_.update();
    r.segments.back().last = run_.progress();
    r.segments.back().seconds = watch_.seconds();
}

void Loop::end(const std::string& status) {
    run_.record().status = status;
    run_.record().finished = iso_time_now();
}

}  // namespace kasane::run
