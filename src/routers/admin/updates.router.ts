import { z } from 'zod';
import { readReleases } from '../../domain/updates/releases.ts';
import { adminProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';

/** Contract group `Cabinet Admin Updates`. */

const ReleaseItem = z
  .object({
    tag_name: z.string().describe('Tag of the release.'),
    name: z.string().describe('Name of the release, or its tag.'),
    body: z.string().describe('Notes in Markdown; empty without any.'),
    published_at: z.string().describe('When it was published, ISO 8601 in UTC.'),
    prerelease: z.boolean().describe('Whether it is a preview.'),
  })
  .meta({ id: 'ReleaseItem' });

const ProjectReleasesInfo = z
  .object({
    current_version: z
      .string()
      .describe('Version in use: of the service its own, of the cabinet its newest release; empty when unknown.'),
    has_updates: z
      .boolean()
      .describe('Whether a newer release is published; always false for the cabinet, and while `VERSION_CHECK_ENABLED` is off.'),
    releases: ReleaseItem.array().describe('Newest first, at most ten.'),
    repo_url: z.string().describe('Page of the repository; empty when none is set.'),
  })
  .meta({ id: 'ProjectReleasesInfo' });

const ReleasesResponse = z
  .object({
    bot: ProjectReleasesInfo.describe('Releases of the service (`VERSION_CHECK_REPO`).'),
    cabinet: ProjectReleasesInfo.describe('Releases of the cabinet pages (`CABINET_REPO`).'),
  })
  .meta({ id: 'ReleasesResponse' });

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
