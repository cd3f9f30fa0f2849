// The members of a run: every rank has the same number of them, a thread and a space each ([MTM13] section 3: one OpenMP thread per GPU).
// Member m of a team of R ranks with k members each is thread m % k of rank m / k.
// Invariants: all members make the same collective calls in the same order; a member may call only from its own thread.
#pragma once

#include <kasane/core/comm/communicator.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kasane::comm {

class Team;

/// One member's end of the team. Valid while the team lives.
class Member {
   public:
    int index() const { return index_; }
    int size() const { return size_; }
    /// Its number in its rank.
    int local() const { return local_; }
    int rank_of(int member) const;
    /// Its number in the rank that it belongs to.
    int local_of(int member) const;
    Communicator& ranks() const;
    Team& team() const { return *team_; }

    void barrier();
    /// `root` is a member.
    void broadcast(void* data, std::size_t bytes, int root);
    void all_reduce(View<double> values, Reduce how);
    void all_reduce(View<std::uint64_t> values, Reduce how);

    /// Between members of one rank: a pointer goes to another local member and is taken there, in the order given; the taker waits.
    void hand(int to_local, int slot, const void* what);
    const void* take(int from_local, int slot);

   private:
    friend class Team;
    Member(Team* team, int index, int size, int local) : team_(team), index_(index), size_(size), local_(local) {}
    Team* team_;
    int index_, size_, local_;
};

class Team {
   public:
    /// Collective over `ranks`. @param members of each rank, the same everywhere   @throws InputError when ranks differ in it
    /// @param spaces  names of this rank's members' spaces ("cuda:1"), told where one fails; or none
    Team(Communicator& ranks, int members, std::vector<std::string> spaces = {});
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const;
    int members_here() const;
    Communicator& ranks() const { return ranks_; }

    /// body(member) for each local member, on a thread of its own, the same thread at each call (local member 0: the caller's); returns
    /// when all are done. In `body`, each may open OpenMP regions: none is open around it. What every member of the team throws at the same
    /// place (a run that blew up) is thrown here, the first local member's. What a member throws alone would leave the others waiting: it
    /// ends the run with end_run() where the team has others. Which of the two it is shows at once where another local member waits for the
    /// one that threw, and otherwise within seconds.
    void run(const std::function<void(Member&)>& body);

   private:
    friend class Member;
    struct Shared;
    Communicator& ranks_;
    std::unique_ptr<Shared> shared_;
};

/// "rank 3 (host node7, cuda:1)".
std::string rank_text(const Communicator& ranks, const std::string& space = "");

/// The exit status of what is being handled in a catch clause: 2 for an InputError, else 1; and its reason.
std::string reason_of_current_exception(int& status);

/// The one message of a run that ends because a rank cannot go on, on standard error, and the end of all ranks with this status:
/// "rank 3 (host node7, cuda:1): the reason".
[[noreturn]] void end_run(Communicator& ranks, const std::string& who, const std::string& reason, int status) noexcept;

}  // namespace kasane::comm
