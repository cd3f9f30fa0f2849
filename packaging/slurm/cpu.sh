#!/bin/bash
# A run on the CPUs of one node. Submit: sbatch packaging/slurm/cpu.sh FILE.toml DIRECTORY
# A job that reaches its time limit gets SIGTERM a minute before: the run writes a checkpoint, and submitting the same line again
# continues it.
#SBATCH --job-name=kasane
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=16
#SBATCH --time=12:00:00
#SBATCH --signal=TERM@60
set -euo pipefail
file=$1 directory=$2
module load kasane

if [ -e "$directory/record.json" ]; then
    srun kasane resume "$directory" --threads "$SLURM_CPUS_PER_TASK"
else
    srun kasane run "$file" -o "$directory" --threads "$SLURM_CPUS_PER_TASK"
fi
