import { router } from '../trpc.ts';
import { userChangesRouter } from './users/changes.router.ts';
import { userDetailRouter } from './users/detail.router.ts';
import { userListsRouter } from './users/lists.router.ts';
import { userPanelRouter } from './users/panel.router.ts';
import { userRemovalRouter } from './users/removal.router.ts';

/** The contract group `Cabinet Admin Users` (spec 01 section 11), flat under one name. */
export const adminUsersRouter = router({
  ...userListsRouter._def.record,
  ...userDetailRouter._def.record,
  ...userPanelRouter._def.record,
  ...userChangesRouter._def.record,
  ...userRemovalRouter._def.record,
});
