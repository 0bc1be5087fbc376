// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/host_pool.h"

#include <algorithm>
#include <utility>

namespace cubevp::sim {

namespace {

// A task that submits must not wait for room: what it waits for may be its own bytes.
thread_local int tasks_on_this_thread = 0;

}  // namespace

HostPool::HostPool(unsigned threads, std::size_t max_bytes_held) : max_bytes_held_(max_bytes_held) {
  for (unsigned i = 1; i < threads; ++i) {
    workers_.emplace_back([this] { work(); });
  }
}

HostPool::~HostPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

std::size_t HostPool::bytes_held() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_held_;
}

void HostPool::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    ready_.wait(lock, [this] { return stopping_ || !ready_queues_.empty(); });
    if (Queue* queue = take_ready()) {
      run_one(*queue, lock);
    } else {
      return;
    }
  }
}

HostPool::Queue* HostPool::take_ready() {
  if (ready_queues_.empty()) {
    return nullptr;
  }
  Queue* queue = ready_queues_.front();
  ready_queues_.pop_front();
  return queue;
}

void HostPool::run_one(Queue& queue, std::unique_lock<std::mutex>& lock) {
  Task task = std::move(queue.tasks.front());
  queue.tasks.pop_front();
  queue.running = true;
  lock.unlock();
  std::exception_ptr error;
  ++tasks_on_this_thread;
  try {
    task.run();
  } catch (...) {
    error = std::current_exception();
  }
  --tasks_on_this_thread;
  // Frees what the task holds before it counts as finished.
  task.run = nullptr;
  lock.lock();
  bytes_held_ -= task.bytes_held;
  queue.running = false;
  ++queue.finished;
  if (error && !queue.error) {
    queue.error = error;
  }
  if (!queue.tasks.empty()) {
    ready_queues_.push_back(&queue);
    ready_.notify_one();
  }
  progress_.notify_all();
}

void HostPool::submit(Queue& queue, Task task) {
  std::unique_lock<std::mutex> lock(mutex_);
  bytes_held_ += task.bytes_held;
  queue.tasks.push_back(std::move(task));
  ++queue.submitted;
  if (!queue.running && queue.tasks.size() == 1) {
    ready_queues_.push_back(&queue);
    ready_.notify_one();
  }
  if (workers_.empty()) {
    // A task submitted from inside its strand runs after the one that submits it.
    if (!queue.running) {
      finish(queue, queue.submitted, lock);
    }
    return;
  }
  while (bytes_held_ > max_bytes_held_ && tasks_on_this_thread == 0) {
    if (Queue* waiting = take_ready()) {
      run_one(*waiting, lock);
    } else {
      progress_.wait(lock);
    }
  }
}

void HostPool::finish(Queue& queue, std::uint64_t count, std::unique_lock<std::mutex>& lock) {
  while (queue.finished < count) {
    if (queue.running) {
      progress_.wait(lock);
    } else {
      ready_queues_.erase(std::find(ready_queues_.begin(), ready_queues_.end(), &queue));
      run_one(queue, lock);
    }
  }
}

std::exception_ptr HostPool::join(Queue& queue) {
  std::unique_lock<std::mutex> lock(mutex_);
  finish(queue, queue.submitted, lock);
  return std::exchange(queue.error, nullptr);
}

Strand::~Strand() {
  std::unique_lock<std::mutex> lock(pool_.mutex_);
  // Tasks may have submitted more tasks meanwhile.
  while (queue_.finished < queue_.submitted) {
    pool_.finish(queue_, queue_.submitted, lock);
  }
}

void Strand::submit(std::function<void()> task, std::size_t bytes_held) {
  pool_.submit(queue_, {std::move(task), bytes_held});
}

void Strand::join() {
  if (const std::exception_ptr error = pool_.join(queue_)) {
    std::rethrow_exception(error);
  }
}

}  // namespace cubevp::sim
