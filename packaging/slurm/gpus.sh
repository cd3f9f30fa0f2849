#!/bin/bash
# A run on the GPUs of several nodes, one rank for each GPU (docs/parallel.md). Submit: sbatch packaging/slurm/gpus.sh FILE.toml DIRECTORY
#SBATCH --job-name=kasane
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --time=12:00:00
#SBATCH --signal=TERM@60
set -euo pipefail
file=$1 directory=$2
module load kasane

if [ -e "$directory/record.json" ]; then
    srun --mpi=pmix kasane resume "$directory"
else
    srun --mpi=pmix kasane run "$file" -o "$directory"
fi
