// Times and counts of the parts of the force of a tree on many workers, those of one worker ([OMBMN12] figure 14).
// The parts follow each other on the worker's space: their sum is the time of the force. Messages that a walk hides take no time.
#pragma once

#include <kasane/gravity/evolve/tree_parts.hpp>

namespace kasane::gravity {

template <Space S>
struct DomainParts {
    explicit DomainParts(S on) : walk(on), moments(on), tree(on), domains(on), lets(on), messages(on) {}

    /// Calls part(name, seconds, calls) for each.
    template <class F>
    void report(const F& part) {
        part("walk", walk.seconds(), walk.calls());
        part("moments", moments.seconds(), moments.calls());
        part("tree", tree.seconds(), tree.calls());
        part("domains", domains.seconds(), domains.calls());
        part("lets", lets.seconds(), lets.calls());
        part("messages", messages.seconds(), messages.calls());
    }

    TreePart<S> walk, moments, tree;
    TreePart<S> domains;   ///< boundaries of the domains, and particles that move between them
    TreePart<S> lets;      ///< boxes, selection, packing and merging of LETs
    TreePart<S> messages;  ///< sizes, and the time in which a worker waits for the messages of LETs
};

}  // namespace kasane::gravity
