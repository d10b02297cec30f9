declare module './event-recorder.ts' {
  interface EventTypes {
    /** For the instances: all data was replaced or changed by a restore, so nothing that was read before counts. */
    [DATABASE_RESTORED]: EventType<Record<string, never>, 'instance'>;
  }
}

export const DATABASE_RESTORED = 'database.restored';
