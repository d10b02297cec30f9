import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import { z } from 'zod';
import type { App } from '../../../../src/core/app.ts';
import { defineJob, JobPayloadError, type PayloadOf, runJob } from '../../../../src/core/jobs/define-job.ts';

const app = {} as App;
const running = (data: unknown) => ({ id: 'job', data, signal: new AbortController().signal, isLastTry: true });
const payload = z.object({ userId: z.int(), mode: z.enum(['delete', 'disable']).optional() });

describe('defineJob', () => {
  it('takes the payload type from the schema', () => {
    const job = defineJob({
      name: 'test.job',
      payload,
      handle: async (_app, { data }) => expectTypeOf(data).toEqualTypeOf<z.infer<typeof payload>>(),
    });
    expectTypeOf(job.name).toEqualTypeOf<'test.job'>();
    expectTypeOf<PayloadOf<typeof job>>().toEqualTypeOf<z.infer<typeof payload>>();
    expectTypeOf<PayloadOf<(collaborator: () => void) => typeof job>>().toEqualTypeOf<z.infer<typeof payload>>();
  });

  it('fills in the default policy', () => {
    const job = defineJob({ name: 'test.job', queue: { retryLimit: 3 }, handle: async () => undefined });
    expectTypeOf<PayloadOf<typeof job>>().toEqualTypeOf<Record<string, never>>();
    expect(job).toMatchObject({ every: null });
    expect(job.queue).toEqual({ policy: 'standard', retryLimit: 3, retryDelaySeconds: 2, expireSeconds: 120, concurrency: 4 });
  });

  it('gives a scheduled job one waiting and one running job and no retries', () => {
    const job = defineJob({
      name: 'test.job',
      queue: { expireSeconds: 600 },
      every: () => 60_000,
      handle: async () => undefined,
    });
    expect(job.every!(app)).toBe(60_000);
    expect(job.queue).toEqual({ policy: 'short', retryLimit: 0, retryDelaySeconds: 2, expireSeconds: 600, concurrency: 1 });
  });
});

describe('runJob', () => {
  it('gives the handler the payload and what the queue says about the job', async () => {
    const handle = vi.fn(async () => 'ignored');
    const job = running({ userId: 1, addedByALaterRelease: true });
    expect(await runJob(app, defineJob({ name: 'test.job', payload, handle }), job)).toBeUndefined();
    expect(handle).toHaveBeenCalledExactlyOnceWith(app, { ...job, data: { userId: 1 } });
  });

  it.each([{ userId: 'secret' }, {}, null, undefined, 'secret'])(
    'refuses the payload %j and does not call the handler',
    async (data) => {
      const handle = vi.fn(async () => undefined);
      const refusal = await runJob(app, defineJob({ name: 'test.job', payload, handle }), running(data)).catch((error) => error);
      expect(refusal).toBeInstanceOf(JobPayloadError);
      expect(refusal.message).toMatch(/^The payload of a job of test\.job does not fit: (userId|payload): /);
      expect(refusal.message).not.toContain('secret');
      expect(handle).not.toHaveBeenCalled();
    },
  );

  it('passes a failure of the handler on', async () => {
    const job = defineJob({ name: 'test.job', handle: () => Promise.reject(new Error('not this time')) });
    await expect(runJob(app, job, running({}))).rejects.toThrow('not this time');
  });
});
