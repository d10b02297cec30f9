declare module '../../core/events/event-recorder.ts' {
  interface EventTypes {
    /** To staff sockets: when a broadcast begins, every few seconds, and when it ends. */
    'broadcast.progress': {
      broadcast_id: number;
      status: string;
      total_count: number;
      sent_count: number;
      failed_count: number;
      blocked_count: number;
      /** Unknown whether they got it. */
      unconfirmed_count: number;
      progress_percent: number;
      /** ISO 8601 in UTC; null while it cannot be estimated. */
      estimated_end_at: string | null;
    };
  }
}

export const BROADCAST_PROGRESS = 'broadcast.progress';
