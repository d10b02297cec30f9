/** What the running process knows about itself; implemented where the service is put together. */
export interface InstancePort {
  /** Release of this program. */
  version(): string;
  /** Kinds of systems that are fakes right now: `vpnpanel`, `payments`, `messenger`, `mail`. Empty = everything is real. */
  sandboxKinds(): string[];
  poolCounters(): { size: number; inUse: number; waiting: number };
  /** False while the process starts or stops: no new traffic, please. */
  isReady(): boolean;
}

declare module '../../core/app.ts' {
  interface Ports {
    instance: InstancePort;
  }
}
