// Immutable values that many ranks and messages share. A simulation runs in one thread, so the
// reference count is a plain integer: cheaper than shared_ptr, and a handle is one pointer.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace thinwire::inline base {

/// Base of every value that is passed by reference. It is immutable once it is shared.
class Body {
 public:
  Body() = default;
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;
  virtual ~Body() = default;

 private:
  template <class>
  friend class Ref;
  mutable std::uint64_t references_ = 0;
};

/// A counted reference to a Body.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* body) : body_(body) { retain(); }
  Ref(const Ref& other) : body_(other.body_) { retain(); }
  Ref(Ref&& other) noexcept : body_(std::exchange(other.body_, nullptr)) {}
  /// A Ref converts wherever its pointer converts.
  template <class U>
  requires std::is_convertible_v<U*, T*> Ref(Ref<U> other)  // NOLINT(google-explicit-constructor)
      : body_(other.release()) {}
  Ref& operator=(const Ref& other) {
    if (this != &other) *this = Ref(other);
    return *this;
  }
  Ref& operator=(Ref&& other) noexcept {
    std::swap(body_, other.body_);
    return *this;
  }
  ~Ref() {
    if (body_ != nullptr && --body_->references_ == 0) delete body_;
  }

  [[nodiscard]] T* get() const { return body_; }
  T* operator->() const { return body_; }
  T& operator*() const { return *body_; }
  explicit operator bool() const { return body_ != nullptr; }
  /// Whether there is a body, and no other reference to it.
  [[nodiscard]] bool is_only() const { return body_ != nullptr && body_->references_ == 1; }
  friend bool operator==(const Ref&, const Ref&) = default;

  /// Hands over the pointer without changing the count; for conversions between Refs.
  [[nodiscard]] T* release() { return std::exchange(body_, nullptr); }

 private:
  void retain() const {
    if (body_ != nullptr) ++body_->references_;
  }

  T* body_ = nullptr;
};

template <class T, class... Args>
[[nodiscard]] Ref<T> make_ref(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace thinwire::inline base
