import { endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import type { UploadDeps } from '../uploads/deps.ts';
import { answerComment } from './answer.ts';
import { listReviewComments } from './list.ts';
import { removeComment } from './remove.ts';
import { resolveComment } from './resolve.ts';
import { saveComment } from './save.ts';

/** The lines of a comment are compared with the patch of its job, which is an upload. */
export function bindReviewRoutes(api: Api, deps: UploadDeps): void {
  const { reviewComments } = endpoints;
  api.bind(reviewComments.list, async (input) => ({
    comments: await listReviewComments(deps, input),
  }));
  api.bind(reviewComments.save, (input, { principal }) => saveComment(deps, principal, input));
  api.bind(reviewComments.remove, async (input, { principal }) => {
    await removeComment(deps, principal, input);
    return {};
  });
  api.bind(reviewComments.resolve, async (input, { principal }) => ({
    comment: await resolveComment(deps, principal, input),
  }));
  api.bind(reviewComments.answer, async (input, { principal }) => ({
    comment: await answerComment(deps, principal, input),
  }));
}
