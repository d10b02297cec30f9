/** Payload type of each queue; filled by declaration merging next to the job handlers (`domain/<module>/jobs.ts`). */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface JobTypes {}

export interface JobOptions {
  /** Not before this moment (service clock). */
  startAfter?: Date;
  /** At most one job of this key waiting at a time; a second `send` is dropped. Only for queues created with `policy: 'short'`. */
  singletonKey?: string;
}

/** Sends durable jobs. Inside a transaction the job becomes visible with the commit and vanishes with a rollback. */
export interface JobSender {
  send<K extends keyof JobTypes>(queue: K, data: JobTypes[K], options?: JobOptions): Promise<void>;
}
