/** A change of money that waits for a second administrator (spec 01 section 4.8). */
import type { Rows } from '../../core/db/columns.ts';

export type Approval = Rows['Approval'];
export type ApprovalKind = Approval['kind'];
export type ApprovalStatus = Approval['status'];

/** What the requester gets instead of the result. */
export interface WaitingApproval {
  id: number;
  expiresAt: Date;
}
