import { MINUTE_MS } from '../../core/clock.ts';
import { defineJob } from '../../core/jobs/define-job.ts';
import { sendDailyReport } from './report/report.ts';
import { countSales } from './sales/sales.ts';

/** Counts everything again after a change of the time zone: ten million transactions take some minutes. */
const countSalesJob = defineJob({
  name: 'insight.count-sales',
  queue: { expireSeconds: 900 },
  every: () => MINUTE_MS,
  handle: (app) => countSales(app),
});

/** Looks every minute whether the report of the day is due. */
const sendReportJob = defineJob({ name: 'insight.send-report', every: () => MINUTE_MS, handle: sendDailyReport });

export const insightJobs = [countSalesJob, sendReportJob];
