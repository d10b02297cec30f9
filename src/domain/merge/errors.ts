import { refusal } from '../../core/errors.ts';

export const mergeTokenUnknown = refusal('merge_token_invalid', 404, 'Merge token is invalid or expired');

export const mergeTokenUsed = refusal('merge_token_used', 404, 'Merge token is invalid, expired, or already consumed');

export const mergeUsersUnknown = refusal('merge_users_not_found', 404, 'One or both users not found');

export const keptUserUnknown = refusal(
  'merge_keep_invalid',
  400,
  'keep_subscription_from must be one of the two user IDs being merged',
);

export const mergeImpossible = refusal(
  'merge_impossible',
  400,
  'Account merge cannot be completed. The accounts may have already been merged or deleted.',
);

export const mergeFailed = refusal('merge_failed', 500, 'Account merge failed due to an internal error', (cause: unknown) => ({
  cause,
}));

export const mergedUserUnreadable = refusal('merged_user_unreadable', 500, 'Failed to load merged user');

export const mergeSessionFailed = refusal(
  'merge_session_failed',
  500,
  'Merge succeeded but failed to create new session',
  (cause: unknown) => ({ cause }),
);
