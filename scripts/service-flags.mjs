// Options of the runtime for a server process; the Dockerfile and the unit in docs/operations.md name the same (tests/unit/core/service-flags.test.ts).
// By default V8 lets garbage grow to some multiple of what is in use, because the machine has the memory: then an instance that is
// idle has 280 MiB, and 400 under load. Measured by `npm run bench -- --only memory` (docs/performance.md).
export const SERVICE_FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=80'];
