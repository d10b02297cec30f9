import { DAY_MS } from '../../core/clock.ts';
import { defineJob } from '../../core/jobs/define-job.ts';
import { fetchExchangeRates } from './exchange-rate.ts';

/** Fetches the official exchange rates once a day; after a failure again within hours. */
const fetchRates = defineJob({
  name: 'rates.fetch',
  queue: { retryLimit: 5, retryDelaySeconds: 600 },
  every: () => DAY_MS,
  handle: fetchExchangeRates,
});

export const exchangeRateJobs = [fetchRates];
