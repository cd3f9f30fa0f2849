// Krylov methods for any operator, vector and precision. algebra.hpp states what a vector type, an operator and a preconditioner need.
#pragma once

#include <kasane/krylov/algebra.hpp>
#include <kasane/krylov/bicgstab.hpp>
#include <kasane/krylov/cg.hpp>
#include <kasane/krylov/fgmres.hpp>
#include <kasane/krylov/gcr.hpp>
#include <kasane/krylov/host_algebra.hpp>
#include <kasane/krylov/inner_bicgstab.hpp>
#include <kasane/krylov/lobpcg.hpp>
#include <kasane/krylov/log.hpp>
#include <kasane/krylov/minres.hpp>
#include <kasane/krylov/mixed_multishift.hpp>
#include <kasane/krylov/multishift.hpp>
#include <kasane/krylov/operator_ref.hpp>
#include <kasane/krylov/options.hpp>
#include <kasane/krylov/outcome.hpp>
#include <kasane/krylov/refinement.hpp>
#include <kasane/krylov/reliable.hpp>
#include <kasane/krylov/symmetric_eigen.hpp>

/// Krylov methods.
namespace kasane::krylov {}
