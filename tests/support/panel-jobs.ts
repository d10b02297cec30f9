import type { App } from '../../src/core/app.ts';
import type { JobDefinition } from '../../src/core/jobs/define-job.ts';
import { mergeJobs } from '../../src/domain/merge/jobs.ts';
import { provisioningJobs } from '../../src/domain/provisioning/jobs.ts';

/** Runs every job that a use case has sent for the panel, until none waits, as the queue does; an error of one is thrown. */
export async function runPanelJobs(app: App): Promise<void> {
  const definitions = [...provisioningJobs(async () => undefined), ...mergeJobs] as JobDefinition<string, never>[];
  const names = ['provisioning.push', 'provisioning.remove-user', 'merge.panel'];
  for (let round = 0; round < 20; round++) {
    const jobs = await app.db.sql<{ id: string; name: string; data: never }>(
      "DELETE FROM jobs.job WHERE state = 'created' AND name = ANY($1::text[]) RETURNING id, name, data",
      [names],
    );
    if (jobs.length === 0) return;
    for (const { id, name, data } of jobs) {
      const definition = definitions.find((candidate) => candidate.name === name)!;
      await definition.handle(app, { id, data, signal: new AbortController().signal });
    }
  }
  throw new Error('The panel jobs do not end');
}
