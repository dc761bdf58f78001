import { testHostileTool } from './hostile-tests.ts';

testHostileTool('a tool over ACP');
