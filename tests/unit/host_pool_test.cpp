// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/host_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace cubevp::sim {
namespace {

TEST(HostPool, OneThreadRunsTasksInlineAtSubmit) {
  HostPool pool(1);
  EXPECT_EQ(pool.threads(), 1U);
  Strand strand(pool);
  std::thread::id ran_on;
  strand.submit([&] { ran_on = std::this_thread::get_id(); }, 100);
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  EXPECT_EQ(pool.bytes_held(), 0U);
}

TEST(HostPool, TasksOfAStrandRunInOrderOneAtATime) {
  for (const unsigned threads : {1U, 2U, 5U}) {
    HostPool pool(threads);
    Strand strand(pool);
    std::vector<int> order;
    std::atomic<int> inside{0};
    std::atomic<bool> overlapped{false};
    for (int i = 0; i < 2000; ++i) {
      strand.submit([&, i] {
        overlapped = overlapped || inside.fetch_add(1) != 0;
        order.push_back(i);
        inside.fetch_sub(1);
      });
    }
    strand.join();
    EXPECT_FALSE(overlapped);
    ASSERT_EQ(order.size(), 2000U);
    for (int i = 0; i < 2000; ++i) {
      ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
    }
  }
}

/// Lets a task wait until the test says go.
class Gate {
 public:
  void open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

TEST(HostPool, StrandsRunInParallel) {
  HostPool pool(3);
  Gate first_running;
  Gate second_running;
  Strand first(pool);
  Strand second(pool);
  // Each waits for the other to have started: one thread could never finish them.
  first.submit([&] {
    first_running.open();
    second_running.pass();
  });
  second.submit([&] {
    second_running.open();
    first_running.pass();
  });
  first.join();
  second.join();
}

TEST(HostPool, JoinRunsTheTasksItselfWhenAllWorkersAreBusyElsewhere) {
  HostPool pool(2);
  Gate started;
  Gate release;
  Strand busy(pool);
  busy.submit([&] {
    started.open();
    release.pass();
  });
  started.pass();
  Strand mine(pool);
  std::thread::id ran_on;
  mine.submit([&] { ran_on = std::this_thread::get_id(); });
  mine.join();
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  release.open();
  busy.join();
}

TEST(HostPool, SubmitHelpsWhileTasksHoldTooManyBytes) {
  HostPool pool(2, 1000);
  Gate started;
  Gate release;
  Strand busy(pool);
  busy.submit([&] {
    started.open();
    release.pass();
  });
  started.pass();
  // The only worker is stuck, so submitting more than the limit must run tasks here.
  Strand strand(pool);
  std::atomic<int> ran{0};
  std::atomic<bool> ran_elsewhere{false};
  const auto caller = std::this_thread::get_id();
  for (int i = 0; i < 50; ++i) {
    strand.submit(
        [&] {
          ran_elsewhere = ran_elsewhere || std::this_thread::get_id() != caller;
          ++ran;
        },
        300);
    EXPECT_LE(pool.bytes_held(), 1000U);
  }
  EXPECT_GE(ran, 47);
  EXPECT_FALSE(ran_elsewhere);
  release.open();
  strand.join();
  EXPECT_EQ(ran, 50);
  EXPECT_EQ(pool.bytes_held(), 0U);
}

TEST(HostPool, ATaskLargerThanTheLimitRuns) {
  HostPool pool(2, 10);
  Strand strand(pool);
  bool ran = false;
  strand.submit([&] { ran = true; }, 1 << 20);
  strand.join();
  EXPECT_TRUE(ran);
}

TEST(HostPool, WhatATaskHoldsIsFreedBeforeItCountsAsFinished) {
  HostPool pool(3);
  Strand strand(pool);
  auto data = std::make_shared<std::vector<char>>(1000);
  const std::weak_ptr<std::vector<char>> watch = data;
  strand.submit([held = std::move(data)] { EXPECT_EQ(held->size(), 1000U); }, 1000);
  strand.join();
  EXPECT_TRUE(watch.expired());
}

TEST(HostPool, JoinRethrowsTheFirstExceptionOnceAndLaterTasksStillRun) {
  for (const unsigned threads : {1U, 3U}) {
    HostPool pool(threads);
    Strand strand(pool);
    Strand other(pool);
    bool ran = false;
    strand.submit([] { throw std::runtime_error("first"); });
    strand.submit([] { throw std::runtime_error("second"); });
    strand.submit([&] { ran = true; });
    other.submit([] {});
    EXPECT_NO_THROW(other.join());
    try {
      strand.join();
      ADD_FAILURE() << "join must throw";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "first");
    }
    EXPECT_TRUE(ran);
    EXPECT_NO_THROW(strand.join());
  }
}

TEST(HostPool, DestructorsDrain) {
  for (const unsigned threads : {1U, 4U}) {
    std::atomic<int> ran{0};
    {
      HostPool pool(threads);
      std::vector<std::unique_ptr<Strand>> strands;
      for (int i = 0; i < 8; ++i) {
        strands.push_back(std::make_unique<Strand>(pool));
        for (int j = 0; j < 100; ++j) {
          strands.back()->submit([&] { ++ran; }, 10);
        }
      }
      strands[3]->submit([] { throw std::runtime_error("dropped"); });
    }
    EXPECT_EQ(ran, 800);
  }
}

TEST(HostPool, ATaskMaySubmitToItsOwnStrand) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    std::vector<int> order;
    {
      HostPool pool(threads, 100);
      Strand strand(pool);
      strand.submit(
          [&] {
            strand.submit([&] { order.push_back(2); }, 500);
            order.push_back(1);
          },
          500);
    }
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
  }
}

TEST(HostPool, ResultsDoNotDependOnTheNumberOfThreads) {
  std::vector<std::vector<float>> results;
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    HostPool pool(threads, 4096);
    std::vector<float> values(16, 1.0F);
    std::vector<std::unique_ptr<Strand>> strands;
    for (std::size_t s = 0; s < values.size(); ++s) {
      strands.push_back(std::make_unique<Strand>(pool));
    }
    for (int step = 1; step < 200; ++step) {
      for (std::size_t s = 0; s < values.size(); ++s) {
        strands[s]->submit(
            [&values, s, step] {
              values[s] = values[s] * 0.99F + static_cast<float>(step) / static_cast<float>(s + 3);
            },
            256);
      }
      if (step % 50 == 0) {
        strands[static_cast<std::size_t>(step) % values.size()]->join();
      }
    }
    for (auto& strand : strands) {
      strand->join();
    }
    results.push_back(values);
  }
  for (const auto& result : results) {
    EXPECT_EQ(result, results.front());
  }
}

}  // namespace
}  // namespace cubevp::sim
