import type { Env } from '../core/env.ts';
import type { Logger } from '../core/log.ts';
import type { Metrics } from '../core/metrics.ts';
import type { Redactor } from '../core/redaction.ts';
import { NO_TRACING, type Tracing } from '../core/telemetry/tracing.ts';
import { connectOutsideSystems } from './outside-systems.ts';
import { clockOf, createSandbox, type Sandbox } from './sandbox.ts';
import { createService, readVersion, type Service } from './service.ts';

export interface AssemblyOptions {
  env: Env;
  log: Logger;
  metrics: Metrics;
  redactor: Redactor;
  tracing?: Tracing;
  /** Whether the service reports itself as ready. */
  isReady: () => boolean;
}

export interface AssembledService {
  service: Service;
  /** The fakes that run beside it; null where there are none. To be closed by the caller. */
  sandbox: Sandbox | null;
  version: string;
}

/** The service with its outside systems, real or fake, for the server and for the command line alike. It serves no requests and runs no jobs. */
export async function assembleService(options: AssemblyOptions): Promise<AssembledService> {
  const { env, log, metrics, redactor, isReady, tracing = NO_TRACING } = options;
  const version = await readVersion();
  let sandbox: Sandbox | null = null;
  const service = await createService({
    env,
    log,
    metrics,
    redactor,
    tracing,
    ports: async ({ database, settings, bus, watch }) => {
      sandbox = await createSandbox({ env, settings, database, bus, log, clock: watch });
      if (sandbox) redactor.register(Object.values(sandbox.secrets));
      const clock = clockOf(sandbox, watch);
      const instance = {
        version: () => version,
        sandboxKinds: () => sandbox?.kinds() ?? [],
        poolCounters: () => database.poolCounters(),
        isReady,
        isStuck: () => watch.isStuck,
        clockSkewMs: () => watch.skewMs,
      };
      return {
        clock,
        ports: connectOutsideSystems({ env, db: database.db, settings, clock, log, metrics, tracing, sandbox, instance }),
      };
    },
  });
  return { service, sandbox, version };
}
