/** Ids in the examples of rows, so that examples of different groups fit together. */
export const exampleIds = {
  workspace: 'ws_1j78s1a0000oo',
  agent: 'agt_1j78s1c80003qjivc1op',
  repository: 'repo_1j78s1cg0003qjivc1oq',
  job: 'job_1j78s1co0003qjivc1or',
  jobEvent: 'evt_1j78s1d00003qjivc1os',
  run: 'run_1j78s1d80003qjivc1ot',
  device: 'dev_1j78s1dg0003qjivc1ou',
} as const;
