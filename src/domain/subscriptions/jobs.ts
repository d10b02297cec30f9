declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'subscriptions.expire': Record<string, never>;
  }
}

export { expireSubscriptions } from './expire-subscriptions.ts';
