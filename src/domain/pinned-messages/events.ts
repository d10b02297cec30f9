declare module '../../core/events/event-recorder.ts' {
  interface EventTypes {
    /** To staff sockets: when a pinned message begins to be sent or unpinned, every few seconds, and when it ends. */
    'pinned_message.progress': {
      message_id: number;
      action: 'broadcast' | 'unpin';
      /** `preparing`, `sending`, `done`, `cancelled` or `failed`. */
      status: string;
      total_count: number;
      sent_count: number;
      failed_count: number;
    };
  }
}

export const PINNED_PROGRESS = 'pinned_message.progress';
