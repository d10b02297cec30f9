import { z } from 'zod';

/** Contract group `Cabinet Admin Updates` (spec 06 section 14). */

export const ReleaseItem = z
  .object({ tag_name: z.string(), name: z.string(), body: z.string(), published_at: z.string(), prerelease: z.boolean() })
  .meta({ id: 'ReleaseItem' });

export const ProjectReleasesInfo = z
  .object({ current_version: z.string(), has_updates: z.boolean(), releases: ReleaseItem.array(), repo_url: z.string() })
  .meta({ id: 'ProjectReleasesInfo' });

export const ReleasesResponse = z
  .object({ bot: ProjectReleasesInfo, cabinet: ProjectReleasesInfo })
  .meta({ id: 'ReleasesResponse' });
