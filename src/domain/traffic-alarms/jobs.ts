import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { defineJob } from '../../core/jobs/define-job.ts';
import { checkDailyTraffic, fastCheckOf, LONGEST_CHECK_MS, sendLeftAlarms } from './check-traffic.ts';
import { checkUsedTraffic } from './fast-check.ts';

const OFF_MS = 10 * MINUTE_MS;

/** Reads all users of the panel: a million of them take some minutes. */
const fast = defineJob({
  name: 'traffic.fast-check',
  queue: { expireSeconds: LONGEST_CHECK_MS / SECOND_MS },
  every: (app) => fastCheckOf(app.settings)?.intervalMs ?? OFF_MS,
  handle: (app, { signal }) => checkUsedTraffic(app, signal),
});

/** Looks every minute whether the check of the day is due. */
const daily = defineJob({ name: 'traffic.daily-check', every: () => MINUTE_MS, handle: checkDailyTraffic });

/** Looks whether a check has left alarms behind. */
const send = defineJob({ name: 'traffic.send-alarms', every: () => MINUTE_MS, handle: sendLeftAlarms });

export const trafficAlarmJobs = [fast, daily, send];
