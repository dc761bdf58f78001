/** Ids in the examples of rows, so that examples of different groups fit together. */
export const exampleIds = {
  workspace: 'ws_0199d1c0a8007000a1b2c3d4e5f60718',
  agent: 'agt_0199d1c0b1007000a1b2c3d4e5f60719',
  repository: 'repo_0199d1c0b2007000a1b2c3d4e5f6071a',
  job: 'job_0199d1c0b3007000a1b2c3d4e5f6071b',
  jobEvent: 'evt_0199d1c0b4007000a1b2c3d4e5f6071c',
  run: 'run_0199d1c0b5007000a1b2c3d4e5f6071d',
  device: 'dev_0199d1c0b6007000a1b2c3d4e5f6071e',
} as const;
