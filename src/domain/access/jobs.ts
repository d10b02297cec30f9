import { MINUTE_MS } from '../../core/clock.ts';
import { defineJob } from '../../core/jobs/define-job.ts';
import { linkAuditLog } from './audit-chain.ts';

/** Links new entries of the audit log to the chain of hashes. A run that is cut short keeps its progress. */
const linkAudit = defineJob({
  name: 'access.link-audit-log',
  queue: { expireSeconds: 600 },
  every: () => MINUTE_MS,
  handle: (app, { signal }) => linkAuditLog(app, signal),
});

export const accessJobs = [linkAudit];
