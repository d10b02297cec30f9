import type { ServiceGate } from '../../core/service-gate.ts';

/** What the running process knows about itself; implemented by the composition. */
interface InstancePort {
  /** Release of this program. */
  version(): string;
  /** Kinds of systems that are fakes right now: `vpnpanel`, `payments`, `messenger`, `mail`. Empty = everything is real. */
  sandboxKinds(): string[];
  poolCounters(): { size: number; inUse: number; waiting: number };
  /** False while the process starts or stops: the service should get no new requests. */
  isReady(): boolean;
  /** True when the database connections of this process are lost for good: it must be started again. */
  isStuck(): boolean;
  /** How far the clock of this machine is ahead of the database's, in milliseconds; negative = behind. */
  clockSkewMs(): number;
}

declare module '../../core/app.ts' {
  interface Ports {
    instance: InstancePort;
    gate: ServiceGate;
  }
}
