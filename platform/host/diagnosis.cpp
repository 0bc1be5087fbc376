// SPDX-License-Identifier: Apache-2.0
#include "platform/host/diagnosis.h"

#include <algorithm>

#include <fmt/format.h>

namespace cubevp::platform {

namespace {

using Why = hw::MessageQueue::Why;

const char* describe(Why why) {
  switch (why) {
    case Why::order:
      return "behind an earlier message of this direction";
    case Why::software:
      return "its software cost is running";
    case Why::credits:
      return "no free slot at the receiver";
    case Why::network:
      return "packets under way";
    case Why::arrival:
      return "nothing has come";
  }
  return "";
}

std::string pe_name(const hw::System& system, CubeId cube, PeId pe) {
  const GridPos at = system.position(cube);
  return fmt::format("cube_{}_{}.pe_{}", at.x, at.y, index(pe));
}

std::size_t node(const hw::Pe& pe) {
  return std::size_t{index(pe.identity().cube)} * pe.identity().pes_per_cube +
         index(pe.identity().pe);
}

/// The message that the PE's oldest blocked work comes down to: the first that waits for the
/// other side, else the first of all.
const hw::MessageQueue::Waiting* root_message(const std::vector<hw::MessageQueue::Waiting>& all) {
  const auto outward = std::find_if(all.begin(), all.end(), [](const auto& w) {
    return w.why == Why::credits || w.why == Why::arrival;
  });
  return outward != all.end() ? &*outward : all.empty() ? nullptr : &all.front();
}

template <class Visit>
void for_each_pe(hw::System& system, const Visit& visit) {
  for (std::size_t c = 0; c < system.cubes(); ++c) {
    hw::Cube& cube = system.cube(static_cast<CubeId>(c));
    for (std::size_t p = 0; p < cube.pes(); ++p) {
      visit(cube.pe(static_cast<PeId>(p)));
    }
  }
}

std::string blocked_line(const hw::System& system, hw::Pe& pe, const std::string& kernel) {
  const hw::Cpu::Status& status = pe.cpu().status();
  std::string line =
      fmt::format("{}: {} {}", pe_name(system, pe.identity().cube, pe.identity().pe), kernel,
                  status.blocked_op.empty() ? "runs" : "waits in " + status.blocked_op);
  if (!status.blocked_op.empty()) {
    line += fmt::format(" since {:.3f} ns", ns_from_ps(status.since_ps));
  }
  const std::vector<hw::MessageQueue::Waiting> messages = pe.message_queue().waiting();
  if (const hw::MessageQueue::Waiting* m = root_message(messages)) {
    line += fmt::format(
        "; {} {} ({} axis) {} {}: {}, since {:.3f} ns", to_string(m->op), to_string(m->direction),
        to_string(m->axis), m->op == Opcode::send ? "to" : "from",
        m->peer.error.empty() ? pe_name(system, m->peer.cube, m->peer.pe) : "nobody",
        describe(m->why), ns_from_ps(m->since_ps));
  }
  const auto pending = pe.command_processor().pending();
  if (!pending.empty()) {
    line +=
        fmt::format("; {} command{} not complete", pending.size(), pending.size() == 1 ? "" : "s");
  }
  return line;
}

}  // namespace

std::vector<std::string> fault_lines(hw::System& system) {
  std::vector<std::string> lines;
  for_each_pe(system, [&](hw::Pe& pe) {
    const std::string& fault = pe.cpu().status().fault;
    if (!fault.empty()) {
      lines.push_back(
          fmt::format("{}: {}", pe_name(system, pe.identity().cube, pe.identity().pe), fault));
    }
  });
  return lines;
}

std::vector<std::string> blocked_lines(hw::System& system, const std::string& kernel) {
  std::vector<std::string> lines;
  WaitGraph graph(system.cubes() * system.config().pes_per_cube());
  for_each_pe(system, [&](hw::Pe& pe) {
    if (!pe.cpu().status().running) {
      return;
    }
    lines.push_back(blocked_line(system, pe, kernel));
    for (const hw::MessageQueue::Waiting& w : pe.message_queue().waiting()) {
      if (w.peer.error.empty() && (w.why == Why::credits || w.why == Why::arrival)) {
        graph[node(pe)].push_back(std::size_t{index(w.peer.cube)} * system.config().pes_per_cube() +
                                  index(w.peer.pe));
      }
    }
  });
  const std::vector<std::size_t> cycle = find_cycle(graph);
  if (!cycle.empty()) {
    std::string line = "cycle of waits: ";
    for (const std::size_t n : cycle) {
      const std::size_t pes = system.config().pes_per_cube();
      line += pe_name(system, static_cast<CubeId>(n / pes), static_cast<PeId>(n % pes)) + " -> ";
    }
    const std::size_t pes = system.config().pes_per_cube();
    lines.push_back(line + pe_name(system, static_cast<CubeId>(cycle.front() / pes),
                                   static_cast<PeId>(cycle.front() % pes)));
  }
  return lines;
}

std::vector<std::size_t> find_cycle(const WaitGraph& graph) {
  enum class Mark : std::uint8_t { fresh, on_path, finished };
  std::vector<Mark> marks(graph.size(), Mark::fresh);
  struct Step {
    std::size_t node;
    std::size_t next_edge;
  };
  for (std::size_t root = 0; root < graph.size(); ++root) {
    if (marks[root] != Mark::fresh) {
      continue;
    }
    std::vector<Step> path{{root, 0}};
    marks[root] = Mark::on_path;
    while (!path.empty()) {
      Step& step = path.back();
      if (step.next_edge == graph[step.node].size()) {
        marks[step.node] = Mark::finished;
        path.pop_back();
        continue;
      }
      const std::size_t to = graph[step.node][step.next_edge++];
      if (marks[to] == Mark::on_path) {
        std::vector<std::size_t> cycle;
        auto at =
            std::find_if(path.begin(), path.end(), [to](const Step& s) { return s.node == to; });
        for (; at != path.end(); ++at) {
          cycle.push_back(at->node);
        }
        return cycle;
      }
      if (marks[to] == Mark::fresh) {
        marks[to] = Mark::on_path;
        path.push_back({to, 0});
      }
    }
  }
  return {};
}

}  // namespace cubevp::platform
