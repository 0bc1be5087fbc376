// SPDX-License-Identifier: Apache-2.0
// What runs on simulated time: conversion, activities, busy time, agendas, traced signals.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hw/sim/activity.h"
#include "hw/sim/agenda.h"
#include "hw/sim/busy_timer.h"
#include "hw/sim/level_trace.h"
#include "hw/sim/time.h"
#include "hw/sim/trace_signal.h"

namespace cubevp::sim {
namespace {

void run_until(Ps at) {
  sc_core::sc_start(to_sc_time(at - now_ps()));
}

TEST(Time, PicosecondsAreTheResolution) {
  EXPECT_EQ(to_sc_time(1), sc_core::sc_time(1, sc_core::SC_PS));
  EXPECT_EQ(to_sc_time(1500), sc_core::sc_time(1.5, sc_core::SC_NS));
  EXPECT_EQ(to_ps(sc_core::sc_time(3, sc_core::SC_SEC)), 3'000'000'000'000);
  EXPECT_EQ(now_ps(), 0);
  run_until(12345);
  EXPECT_EQ(now_ps(), 12345);
}

// --- activities -----------------------------------------------------------------------------

using Spent = std::array<Ps, kPeActivities>;

TEST(Activity, TimeGoesToTheFirstUnderWay) {
  ActivityMonitor monitor;
  run_until(100);  // idle
  monitor.begin(PeActivity::issue);
  run_until(130);
  monitor.begin(PeActivity::dma);  // hides the issue
  run_until(200);
  monitor.begin(PeActivity::gemm);  // hides both
  monitor.begin(PeActivity::recv_wait);
  run_until(250);
  monitor.end(PeActivity::dma);
  run_until(300);
  monitor.end(PeActivity::gemm);
  run_until(340);
  monitor.end(PeActivity::recv_wait);
  run_until(345);
  monitor.end(PeActivity::issue);
  run_until(400);
  //                       gemm vector dma recv send barrier issue idle
  EXPECT_EQ(monitor.spent_ps(), (Spent{100, 0, 70, 40, 0, 0, 35, 155}));
}

TEST(Activity, ManyOfAKindCountOnce) {
  ActivityMonitor monitor;
  monitor.begin(PeActivity::dma);
  monitor.begin(PeActivity::dma);
  run_until(10);
  monitor.end(PeActivity::dma);
  run_until(25);
  monitor.end(PeActivity::dma);
  run_until(30);
  EXPECT_EQ(monitor.spent_ps(), (Spent{0, 0, 25, 0, 0, 0, 0, 5}));
}

TEST(Activity, WhateverHappensTheTimesAddUpToAllOfIt) {
  ActivityMonitor monitor;
  int under_way[kPeActivities] = {};
  unsigned random = 1;
  for (int i = 0; i < 2000; ++i) {
    random = random * 1664525U + 1013904223U;
    const unsigned a = (random >> 16) % 7;
    if ((random >> 24) % 2 == 0 || under_way[a] == 0) {
      monitor.begin(static_cast<PeActivity>(a));
      ++under_way[a];
    } else {
      monitor.end(static_cast<PeActivity>(a));
      --under_way[a];
    }
    run_until(now_ps() + 1 + random % 97);
    const Spent& spent = monitor.spent_ps();
    ASSERT_EQ(std::accumulate(spent.begin(), spent.end(), Ps{0}), now_ps());
  }
}

TEST(Activity, AResetForgetsTheTimeButNotWhatIsUnderWay) {
  ActivityMonitor monitor;
  monitor.begin(PeActivity::vector);
  run_until(50);
  monitor.reset();
  EXPECT_EQ(monitor.spent_ps(), Spent{});
  run_until(80);
  EXPECT_EQ(monitor.spent_ps(), (Spent{0, 30, 0, 0, 0, 0, 0, 0}));
}

TEST(Activity, NamesAreThoseOfTheResult) {
  const char* names[] = {"gemm",      "vector",  "dma",   "recv_wait",
                         "send_wait", "barrier", "issue", "idle"};
  for (int a = 0; a < kPeActivities; ++a) {
    EXPECT_STREQ(to_string(static_cast<PeActivity>(a)), names[a]);
  }
}

TEST(BusyTimer, OverlappingJobsCountOnce) {
  BusyTimer timer;
  EXPECT_FALSE(timer.busy());
  run_until(10);
  timer.begin();
  run_until(20);
  timer.begin();
  run_until(30);
  timer.end();
  EXPECT_TRUE(timer.busy());
  run_until(50);
  EXPECT_EQ(timer.total_ps(), 40);  // the job under way counts
  timer.end();
  run_until(60);
  EXPECT_EQ(timer.total_ps(), 40);
  timer.begin();
  run_until(65);
  timer.reset();
  run_until(72);
  timer.end();
  EXPECT_EQ(timer.total_ps(), 7);
}

// --- agenda ---------------------------------------------------------------------------------

class AgendaOwner : public sc_core::sc_module {
 public:
  explicit AgendaOwner(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(AgendaOwner);
    SC_METHOD(run);
    sensitive << agenda.event();
    dont_initialize();
  }
  Agenda<int> agenda{"agenda"};
  std::vector<std::pair<Ps, int>> done;
  int wakes = 0;

 private:
  void run() {
    ++wakes;
    int item = 0;
    while (agenda.take_due(item)) {
      done.emplace_back(now_ps(), item);
      if (item == 7) {
        agenda.push(now_ps() + 5, 70);  // from within
      }
    }
    agenda.rearm();
  }
};

TEST(Agenda, ItemsComeAtTheirTimeInOrderOfEntry) {
  AgendaOwner owner("owner");
  owner.agenda.push(300, 1);
  owner.agenda.push(100, 2);  // earlier than what is armed
  owner.agenda.push(300, 3);
  owner.agenda.push(100, 4);
  owner.agenda.push(200, 7);
  sc_core::sc_start();
  using Done = std::pair<Ps, int>;
  EXPECT_EQ(owner.done,
            (std::vector<Done>{{100, 2}, {100, 4}, {200, 7}, {205, 70}, {300, 1}, {300, 3}}));
  EXPECT_TRUE(owner.agenda.empty());
  EXPECT_EQ(owner.wakes, 4);
}

TEST(Agenda, NothingIsDueBeforeItsTime) {
  AgendaOwner owner("owner");
  owner.agenda.push(1000, 1);
  int item = 0;
  EXPECT_FALSE(owner.agenda.take_due(item));
  run_until(999);
  EXPECT_TRUE(owner.done.empty());
  EXPECT_FALSE(owner.agenda.empty());
  owner.agenda.push(400, 2);  // the past: now
  sc_core::sc_start();
  ASSERT_EQ(owner.done.size(), 2U);
  EXPECT_EQ(owner.done[0], std::make_pair(Ps{999}, 2));
  EXPECT_EQ(owner.done[1], std::make_pair(Ps{1000}, 1));
}

// --- traced signals -------------------------------------------------------------------------

class Sink : public TraceSink {
 public:
  void change(const TraceSignal& signal, std::uint64_t value, Ps at_ps) override {
    changes.emplace_back(signal.name(), value, at_ps);
  }
  std::uint64_t text(const TraceSignal&, const char* text) override {
    texts.emplace_back(text);
    return 40 + texts.size();
  }
  using Change = std::tuple<std::string, std::uint64_t, Ps>;
  std::vector<Change> changes;
  std::vector<std::string> texts;
};

TEST(TraceSignal, ReportsNowLaterAndWordsWhileSomebodyListens) {
  Sink sink;
  TraceSignal signal("op", 8, {"idle", "run"});
  signal.set(1);  // nobody listens
  signal.set_text("nobody");
  EXPECT_FALSE(signal.traced());
  signal.attach(&sink);
  EXPECT_TRUE(signal.traced());
  run_until(500);
  signal.set(2);
  signal.set_at(3, 900);
  signal.set_text("merge");
  signal.attach(nullptr);
  signal.set(4);
  EXPECT_EQ(sink.changes,
            (std::vector<Sink::Change>{{"op", 2, 500}, {"op", 3, 900}, {"op", 41, 500}}));
  EXPECT_EQ(sink.texts, std::vector<std::string>{"merge"});
  EXPECT_EQ(signal.width_bits(), 8U);
  EXPECT_EQ(signal.states(), (std::vector<std::string>{"idle", "run"}));
}

TEST(LevelTrace, OverlappingIntervalsMakeLevelsInOrderOfTime) {
  Sink sink;
  TraceSignal level("level", 16);
  TraceSignal busy("busy", 1);
  LevelTrace trace(level, busy);
  trace.add(10, 20, 99);  // nobody listens
  level.attach(&sink);
  trace.add(100, 300, 64);
  trace.add(200, 400, 32);  // overlaps
  trace.add(600, 700, 16);
  trace.show_until(600);
  EXPECT_EQ(sink.changes,
            (std::vector<Sink::Change>{
                {"level", 64, 100}, {"level", 96, 200}, {"level", 32, 300}, {"level", 0, 400}}));
  sink.changes.clear();
  busy.attach(&sink);
  run_until(650);
  trace.add(650, 800, 1);  // shows what is past: the rise at 600
  EXPECT_EQ(sink.changes, (std::vector<Sink::Change>{{"level", 16, 600}, {"busy", 1, 600}}));
  sink.changes.clear();
  trace.show_until(10000);
  EXPECT_EQ(sink.changes, (std::vector<Sink::Change>{{"level", 17, 650},
                                                     {"busy", 1, 650},
                                                     {"level", 1, 700},
                                                     {"busy", 1, 700},
                                                     {"level", 0, 800},
                                                     {"busy", 0, 800}}));
}

}  // namespace
}  // namespace cubevp::sim
