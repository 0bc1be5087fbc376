// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace cubevp::sim {

class Strand;

/// Host threads that do the arithmetic of commands behind the simulated clock. Work is handed over
/// in strands (one for each memory that tasks may touch): tasks of a strand run one at a time in
/// the order of their submission, so what they compute never depends on the number of threads.
class HostPool {
 public:
  static constexpr std::size_t kDefaultMaxBytesHeld = std::size_t{256} << 20;

  /// `threads` counts the simulation thread too; with 1 every task runs inline when submitted.
  /// `max_bytes_held` bounds what unfinished tasks hold before submitters have to help.
  explicit HostPool(unsigned threads, std::size_t max_bytes_held = kDefaultMaxBytesHeld);
  /// Every strand must have been destroyed, which joins it.
  ~HostPool();
  HostPool(const HostPool&) = delete;
  HostPool& operator=(const HostPool&) = delete;

  unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }
  /// Bytes that unfinished tasks hold at this moment.
  std::size_t bytes_held() const;

 private:
  friend class Strand;

  struct Task {
    std::function<void()> run;
    std::size_t bytes_held = 0;
  };
  struct Queue {
    std::deque<Task> tasks;
    bool running = false;  ///< a thread is inside one of its tasks
    std::uint64_t submitted = 0;
    std::uint64_t finished = 0;
    std::exception_ptr error;  ///< the first since the last join
  };

  void work();
  void submit(Queue& queue, Task task);
  /// Returns when the tasks submitted before the call have run, with the first error of the queue.
  std::exception_ptr join(Queue& queue);
  /// Returns when the first `count` tasks have run.
  void finish(Queue& queue, std::uint64_t count, std::unique_lock<std::mutex>& lock);
  /// Runs the first task of an idle queue; `lock` is released meanwhile.
  void run_one(Queue& queue, std::unique_lock<std::mutex>& lock);
  /// Takes a queue with tasks that no thread is running, or returns null.
  Queue* take_ready();

  const std::size_t max_bytes_held_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;     ///< ready_queues_ has grown, or stopping_
  std::condition_variable progress_;  ///< some task has finished
  std::deque<Queue*> ready_queues_;   ///< have tasks and are not running, oldest first
  std::size_t bytes_held_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

/// An ordered sequence of tasks on a pool. submit() and join() are called by one thread, usually
/// the simulation's; a task may submit to its own strand but not join it.
class Strand {
 public:
  explicit Strand(HostPool& pool) : pool_(pool) {}
  /// Waits for all tasks; an exception that no join() has fetched is dropped.
  ~Strand();
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

  /// `bytes_held` is what the task keeps alive until it has run. Runs waiting tasks of the pool
  /// here while these hold more than the pool allows. Never throws what a task throws.
  void submit(std::function<void()> task, std::size_t bytes_held = 0);
  /// Returns when all tasks submitted so far have run; runs them here where no worker is at it.
  /// Rethrows the first exception of a task since the last join; later tasks have run all the same.
  void join();

 private:
  HostPool& pool_;
  HostPool::Queue queue_;
};

}  // namespace cubevp::sim
