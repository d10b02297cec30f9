import { readReleases } from '../../domain/updates/releases.ts';
import { adminProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';
import { ReleasesResponse } from './updates.schemas.ts';

const tags: [string] = ['Cabinet Admin Updates'];

export const adminUpdatesRouter = router({
  releases: adminProcedure('updates:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/updates/releases', tags, summary: 'Releases of service and cabinet' },
      description:
        'Returns the ten newest releases of the service and of the cabinet pages. They are read again when they are an hour old; while that fails, the last ones are answered.',
    })
    .output(toWire(ReleasesResponse))
    .query(({ ctx }) => readReleases(ctx.app)),
});
