import type { App } from '../../src/core/app.ts';
import { type JobDefinition, runJob } from '../../src/core/jobs/define-job.ts';

/** Runs a job with this payload as the queue would, without the queue. */
export function runNow<Payload>(app: App, job: JobDefinition<string, Payload>, data: Payload): Promise<void> {
  return runJob(app, job, { id: 'job', data, signal: new AbortController().signal });
}
