import { installJobs } from '../composition/install-jobs.ts';
import { openDatabase } from '../composition/service.ts';
import type { Command } from './command.ts';
import { describeDatabase, openBase } from './open-service.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  parameters: '',
  summary: 'Bring the database to this release (the service does so at start, too).',
  words: [0, 0],
  run: async (call) => {
    const { env, log } = await openBase(call);
    const database = await openDatabase(env, log);
    try {
      const applied = await database.migrate();
      await installJobs(database, log);
      const where = describeDatabase(env);
      const text =
        applied.length === 0
          ? `Nothing to do: every migration is applied (${where}).`
          : [`Applied to the ${where}:`, ...applied.map((name) => `  ${name}`)].join('\n');
      return { text, data: { applied } };
    } finally {
      await database.close();
    }
  },
};
