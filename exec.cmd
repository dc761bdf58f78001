@rem The npm scripts begin with exec, so that signals reach Node and not a shell before it.
@rem The shell of Windows has no exec; there, this file is found in its place.
@%*
